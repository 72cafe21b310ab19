// imb_load and the options -> OrtSessionOptions.
#pragma once

#include <map>
#include <string>

#include "library.hpp"
#include "sdk/onnx_declaration.hpp"
#include "settings.hpp"

namespace infermeter {

// Sizes for named dynamic dimensions, from imb_load.dimensions and batch. Throws Failure for a name that the model does
// not have, where the file could be read.
[[nodiscard]] std::map<std::string, std::int64_t> named_sizes(const imb_load& load, const OnnxDeclaration& declaration);

[[nodiscard]] Owned<OrtSessionOptions> make_session_options(const Library& library, const imb_load& load,
                                                            const Settings& settings, int threads,
                                                            const std::map<std::string, std::int64_t>& dimensions);

}  // namespace infermeter
