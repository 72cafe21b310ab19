// Studies that ship with infermeter, and those that the user names.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "infermeter/diagnostics/result.hpp"

namespace infermeter {

struct StudySource {
  std::string name;  // "imaging"
  std::filesystem::path file;
};

// share/infermeter/studies/*.toml near the program, in the order of their names.
[[nodiscard]] std::vector<StudySource> shipped_studies();

// A name of one that ships, or a file: whatever ends in .toml or names a folder.
[[nodiscard]] Result<StudySource> find_study(const std::string& asked);

}  // namespace infermeter
