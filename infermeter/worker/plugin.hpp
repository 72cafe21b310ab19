// Plug-ins: back ends as files.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter_backend.h"

namespace infermeter {

inline constexpr std::string_view plugin_prefix = "infermeter_backend_";
// A shared library, or a Python file that a Python worker hosts; in a folder that has both, the library is taken.
inline constexpr std::string_view plugin_endings[] = {".so", ".py"};
[[nodiscard]] bool is_python(const std::filesystem::path& plugin);

// Names of the plug-ins in `folders`, sorted, each once.
[[nodiscard]] std::vector<std::string> plugin_names(const std::vector<std::filesystem::path>& folders);
// The first folder that has it; the error names the nearest that is there.
[[nodiscard]] Result<std::filesystem::path> find_plugin(const std::vector<std::filesystem::path>& folders,
                                                        const std::string& name);

// Only in a worker. The library stays loaded until the process ends.
[[nodiscard]] Result<const imb_backend*> load_plugin(const std::filesystem::path& file);

}  // namespace infermeter
