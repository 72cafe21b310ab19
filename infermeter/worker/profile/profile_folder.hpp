// The folder in a worker's own that its back end leaves an operator profile in.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/samples/operator_profile.hpp"

namespace infermeter {

[[nodiscard]] Result<std::string> make_profile_folder(const std::filesystem::path& worker_folder);

// What is there, whether or not the worker came to an end: regular files of this folder by name, no links, each and all
// together of at most 512 MiB; what is beyond is left out.
[[nodiscard]] std::vector<ProfileFile> read_profile_folder(const std::filesystem::path& folder);

}  // namespace infermeter
