// The control groups (cgroups(7)) that this process is in: what they leave it of the processors.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace infermeter {

// Folders of the processor controller, version 1 and 2: this process's group first, then every group above it. Below
// `root`, which tests choose; a folder may not be there, as inside of a container the paths can be the host's.
[[nodiscard]] std::vector<std::string> processor_groups(const std::filesystem::path& root = "/");

// Processors that the tightest quota among these groups leaves; nothing: there is none.
[[nodiscard]] std::optional<double> processor_quota(const std::filesystem::path& root = "/");

// What a quota leaves in whole processors, 1 at least: one thread more would be stopped in every period.
[[nodiscard]] int whole_processors(double quota);

}  // namespace infermeter
