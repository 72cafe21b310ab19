#include <algorithm>

#include "archive.hpp"
#include "program.hpp"
#include "values.hpp"

namespace infermeter {

std::string floats_among(const std::vector<at::ScalarType>& types) {
  std::string text;
  for (const at::ScalarType type : {at::kFloat, at::kHalf, at::kBFloat16, at::kDouble}) {
    if (std::find(types.begin(), types.end(), type) == types.end()) continue;
    text += (text.empty() ? "" : "+") + std::string(name_of(*dtype_from(type)));
  }
  return text.empty() ? "float32" : text;
}

std::unique_ptr<Program> load_program(const ProgramRequest& request) {
  const Archive archive = read_archive(request.load.model_path);
  if (archive.kind == Archive::Kind::torchscript) return load_torchscript(request);
  return load_package(request, archive.model, archive.text);
}

}  // namespace infermeter
