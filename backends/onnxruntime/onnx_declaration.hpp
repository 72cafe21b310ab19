// What an ONNX file says before it is loaded: ONNX Runtime wants the names of dynamic dimensions before the session
// that would tell them exists.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace infermeter {

struct DeclaredDimension {
  std::int64_t value = -1;  // -1: dynamic
  std::string name;         // "" if it has none
};

struct OnnxDeclaration {
  bool readable = false;  // false: not ONNX, or cut; the runtime will say what is wrong with it
  std::vector<std::vector<DeclaredDimension>> inputs;
  std::set<int> weight_types;  // element types of the initialisers, as ONNX numbers them
};

// Skims the file's top levels without recursion; tensors' bytes are stepped over, never read.
[[nodiscard]] OnnxDeclaration read_onnx_declaration(const char* path);

}  // namespace infermeter
