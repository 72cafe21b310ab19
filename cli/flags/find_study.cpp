#include "cli/flags/find_study.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <system_error>

#include "infermeter/text/nearest.hpp"

namespace infermeter {
namespace {

namespace fs = std::filesystem;

constexpr int most_folders_above = 6;  // <prefix>/bin, or the folder of a wheel's package

// Empty: none.
fs::path folder_of_studies() {
  std::error_code error;
  fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (int i = 0; i < most_folders_above && folder.has_relative_path(); ++i, folder = folder.parent_path()) {
    const fs::path studies = folder / "share/infermeter/studies";
    if (fs::is_directory(studies, error)) return studies;
  }
  return {};
}

}  // namespace

std::vector<StudySource> shipped_studies() {
  std::vector<StudySource> studies;
  const fs::path folder = folder_of_studies();
  std::error_code error;
  if (folder.empty()) return studies;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const fs::path& file = entry->path();
    if (file.extension() == ".toml") studies.push_back({file.stem().string(), file});
  }
  std::ranges::sort(studies, {}, &StudySource::name);
  return studies;
}

Result<StudySource> find_study(const std::string& asked) {
  const fs::path file = asked;
  if (file.extension() == ".toml" || file.has_parent_path()) return StudySource{file.stem().string(), file};
  std::vector<std::string> names;
  for (StudySource& study : shipped_studies()) {
    if (study.name == asked) return std::move(study);
    names.push_back(study.name);
  }
  const auto near = nearest_name(asked, names);
  return usage_error(
      fmt::format("there is no study '{}'{}; {}. A study of your own is a file: FILE.toml (docs/study.md)", asked,
                  near ? fmt::format(" (did you mean '{}'?)", *near) : "",
                  names.empty() ? std::string("none ships with this installation")
                                : fmt::format("there are {}", fmt::join(names, ", "))));
}

}  // namespace infermeter
