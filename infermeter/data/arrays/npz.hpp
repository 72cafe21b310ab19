// NumPy's .npz files: zip archives of .npy files. Nothing is unpacked to disk.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "infermeter/data/arrays/npy.hpp"

namespace infermeter {

class NpzFile {
 public:
  // Refuses archives with names that lead elsewhere ("../a.npy"), that occur twice, or that are encrypted.
  [[nodiscard]] static Result<NpzFile> open(const std::string& path);
  NpzFile(NpzFile&&) noexcept;
  NpzFile& operator=(NpzFile&&) noexcept;
  ~NpzFile();

  // Of the arrays, without ".npy", in the archive's order.
  [[nodiscard]] const std::vector<std::string>& names() const;

  // Of the array `name`, without unpacking its numbers.
  [[nodiscard]] Result<NpyHeader> header(const std::string& name) const;

  // The array `name`; refuses what unpacks to more than the limits or more than 1000-fold (above 64 MB), and a member
  // whose CRC-32 is another than the archive says, also where only some of its rows are wanted.
  [[nodiscard]] Result<Tensor> read(const std::string& name, const NpyLimits& limits = {}) const;

 private:
  struct State;
  explicit NpzFile(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace infermeter
