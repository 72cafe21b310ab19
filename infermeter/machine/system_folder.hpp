// The small text files of /proc, /sys and /etc, below a root that tests choose.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace infermeter {

class SystemFolder {
 public:
  explicit SystemFolder(std::filesystem::path root) : root_(std::move(root)) {}

  // At most 1 MiB, trailing line break removed; empty if it cannot be read. `path` is absolute below the root.
  [[nodiscard]] std::string text(std::string_view path) const;
  [[nodiscard]] std::optional<std::int64_t> number(std::string_view path) const;
  // The value behind `key` in a file of lines "key: value" or "key=value", quotes removed; empty if there is none.
  [[nodiscard]] std::string field(std::string_view path, std::string_view key) const;
  [[nodiscard]] bool exists(std::string_view path) const;
  [[nodiscard]] std::vector<std::string> entries(std::string_view folder) const;  // names, sorted
  [[nodiscard]] const std::filesystem::path& root() const { return root_; }
  [[nodiscard]] bool is_this_machine() const { return root_ == "/"; }

 private:
  [[nodiscard]] std::filesystem::path below(std::string_view path) const;
  std::filesystem::path root_;
};

// "0-3,8" -> 5. 0 for an empty or broken list.
[[nodiscard]] int count_of_list(std::string_view list);

// "512 kB", "32M", "48K" -> bytes (binary units, as the kernel means them).
[[nodiscard]] std::uint64_t kernel_bytes(std::string_view text);

}  // namespace infermeter
