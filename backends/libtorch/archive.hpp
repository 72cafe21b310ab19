// What a file is, by what is in it: PyTorch's files are all zip archives.
#pragma once

#include <string>

namespace infermeter {

struct Archive {
  enum class Kind { torchscript, package };
  Kind kind;
  // Of a package:
  std::string model;  // the name that its code has in it
  std::string text;   // the C++ that was compiled, as far as it is kept
};

// Throws Failure(IMB_MODEL_ERROR): missing, cut, no archive, or one without a program.
[[nodiscard]] Archive read_archive(const std::string& path);

}  // namespace infermeter
