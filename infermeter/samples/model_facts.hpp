// ModelFacts: which file was measured.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace infermeter {

struct ModelFacts {
  std::string name;      // as asked for
  std::string path;      // absolute, of the file that the runtime reads
  std::string format;    // its ending: "onnx", "xml", …
  std::string sha256;    // of that file; with weight_files, of the digests of all files, one behind the other
  std::uint64_t size_bytes = 0;  // with its weights files
  std::optional<std::uint64_t> parameters;  // elements of floating-point weights; nullopt: format not known
  std::vector<std::string> weight_files;    // external data, absolute
  bool from_zoo = false;
};

}  // namespace infermeter
