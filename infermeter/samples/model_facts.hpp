// ModelFacts: which file was measured.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace infermeter {

struct ModelFacts {
  std::string name;    // as asked for
  std::string path;    // absolute, of the file that the runtime reads; MODULE:FACTORY or /FILE.py:FACTORY as it is
  std::string format;  // its ending: "onnx", "xml", …; "python" for a factory
  std::string sha256;  // of that file; with weight_files, of the digests of all files, one behind the other; of a
                       // factory, of its file's digest and its name, or of the string where a module is named
  std::uint64_t size_bytes = 0;                       // with its weights files
  std::optional<std::uint64_t> parameters;            // elements of floating-point weights; nullopt: format not known
  std::optional<std::uint64_t> nonzero_parameters{};  // of them; nullopt: not counted
  std::vector<std::string> weight_files;              // external data, absolute
  bool from_zoo = false;
  std::string made{};  // how it was made of another model: "int8 static by ONNX Runtime 1.31.1"; empty: it was given
};

}  // namespace infermeter
