// Reading of files that users bring: only regular ones (no pipe to wait for, no device), never more than was allowed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "infermeter/diagnostics/result.hpp"

namespace infermeter {

// Bytes that are read from front to back.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Fills all of `out`, or says why not.
  [[nodiscard]] virtual Result<Done> read(std::span<std::byte> out) = 0;
  // Passes over so many bytes.
  [[nodiscard]] virtual Result<Done> skip(std::uint64_t count);
  // What the container says is still to come; a compressed one may lie.
  [[nodiscard]] virtual std::uint64_t remaining() const = 0;
};

class RegularFile final : public ByteSource {
 public:
  [[nodiscard]] static Result<RegularFile> open(const std::string& path);
  // Takes an open descriptor over; `name` stands for its path in messages. Reads from the file's beginning.
  [[nodiscard]] static Result<RegularFile> of(int descriptor, std::string name);
  RegularFile(RegularFile&& other) noexcept;
  RegularFile& operator=(RegularFile&& other) noexcept;
  RegularFile(const RegularFile&) = delete;
  RegularFile& operator=(const RegularFile&) = delete;
  ~RegularFile() override;

  [[nodiscard]] Result<Done> read(std::span<std::byte> out) override;
  [[nodiscard]] Result<Done> skip(std::uint64_t count) override;
  [[nodiscard]] std::uint64_t remaining() const override { return remaining_; }
  [[nodiscard]] int descriptor() const { return descriptor_; }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  RegularFile(std::string path, int descriptor, std::uint64_t size)
      : path_(std::move(path)), descriptor_(descriptor), remaining_(size) {}

  std::string path_;
  int descriptor_ = -1;
  std::uint64_t remaining_ = 0;
};

// The whole file; an error if it is larger than `most` bytes.
[[nodiscard]] Result<std::vector<std::byte>> read_file(const std::string& path, std::uint64_t most);
[[nodiscard]] Result<std::vector<std::byte>> read_file(RegularFile& file, std::uint64_t most);

}  // namespace infermeter
