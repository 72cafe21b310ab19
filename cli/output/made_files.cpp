#include "cli/output/made_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>

#include "cli/output/output_file.hpp"
#include "infermeter/plan/subject.hpp"
#include "infermeter/text/quoted.hpp"

namespace infermeter {
namespace {

namespace fs = std::filesystem;

bool is_made(const Variant& variant) { return variant.refusal.empty() && (variant.making || variant.saving); }

bool is_of_torch(const fs::path& ending) { return ending == ".pt" || ending == ".pth"; }

bool names_a_file(const fs::path& path) {
  const fs::path ending = path.extension();
  return ending == ".onnx" || ending == ".xml" || is_of_torch(ending);
}

fs::path folder_to_save(const fs::path& path) { return names_a_file(path) ? folder_of(path) : path; }

// Where the files of each name that a variant has of its own are to be, without those that belong to them. Several
// variants may run the same file.
std::map<std::string, fs::path> places(const fs::path& path, const PreparedVariants& prepared) {
  std::map<std::string, fs::path> found;
  for (const Variant& variant : prepared.list.variants) {
    if (!is_made(variant)) continue;
    const std::string name = saved_name(variant, prepared.model);
    fs::path place = path / name;
    if (names_a_file(path)) {
      const fs::path ending = fs::path(name).extension();
      const bool fits = is_of_torch(ending) && is_of_torch(path.extension());
      place = fits ? path : fs::path(path).replace_extension(ending);
    }
    found.emplace(name, std::move(place));
  }
  return found;
}

Result<Done> copy_file(const fs::path& from, const fs::path& to, bool overwrite) {
  INFERMETER_TRY_DONE(check_output_file(to, overwrite));
  std::error_code error;
  fs::copy_file(from, to, fs::copy_options::overwrite_existing, error);
  if (!error) return Done{};
  return io_error(fmt::format("--save-path: {} cannot be written: {}", printable(to.string(), 300), error.message()));
}

Result<Done> copy_folder(Surroundings& world, const fs::path& folder, const fs::path& place, bool overwrite) {
  std::error_code error;
  fs::create_directories(place, error);
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    INFERMETER_TRY_DONE(copy_file(entry->path(), place / entry->path().filename(), overwrite));
  if (error)
    return io_error(
        fmt::format("--save-path: {} cannot be written: {}", printable(place.string(), 300), error.message()));
  world.err << fmt::format("saved: {}\n", printable(place.string(), 300));
  return Done{};
}

// The file and those of the same name beside it; of a language model its folder.
Result<Done> copy_all(Surroundings& world, const fs::path& file, const fs::path& place, bool overwrite) {
  if (file.filename() == kFolderConfig) return copy_folder(world, file.parent_path(), place.parent_path(), overwrite);
  std::error_code error;
  for (fs::directory_iterator entry(file.parent_path(), error), end; !error && entry != end; entry.increment(error)) {
    if (entry->path().stem() != file.stem()) continue;
    const bool is_it = entry->path() == file;
    const fs::path to = is_it ? place : fs::path(place).replace_extension(entry->path().extension());
    INFERMETER_TRY_DONE(copy_file(entry->path(), to, overwrite));
    world.err << fmt::format("saved: {}\n", printable(to.string(), 300));
  }
  return Done{};
}

}  // namespace

Result<Done> MadeFiles::check(const PreparedVariants& prepared) const {
  INFERMETER_TRY_DONE(check_folder_to_be("--save-path", folder_to_save(path)));
  const auto files = places(path, prepared);
  if (files.empty()) return usage_error("--save-path: there is no variant that a file is made of");
  if (names_a_file(path) && files.size() > 1) {
    return usage_error(fmt::format("--save-path: {} files are to be made: name a folder for them", files.size()));
  }
  for (const auto& [name, place] : files) INFERMETER_TRY_DONE(check_output_file(place, force));
  return Done{};
}

Result<Done> MadeFiles::save(Surroundings& world, const PreparedVariants& prepared) const {
  const auto files = places(path, prepared);
  if (!files.empty()) INFERMETER_TRY_DONE(make_folder("--save-path", folder_to_save(path)));
  std::map<std::string, std::string> made, unmade;  // file or reason, by name
  for (const Variant& variant : prepared.list.variants) {
    if (!is_made(variant)) continue;
    const std::string name = saved_name(variant, prepared.model);
    made.emplace(name, variant.making ? variant.model : variant.saved);
    if (!variant.not_saved.empty()) unmade.emplace(name, variant.not_saved);
  }
  for (const auto& [name, file] : made) {
    if (!file.empty()) INFERMETER_TRY_DONE(copy_all(world, file, files.at(name), force));
  }
  if (unmade.empty()) return Done{};
  const auto& [name, reason] = *unmade.begin();
  return io_error(fmt::format("--save-path: {} could not be made: {}", printable(name, 100), reason));
}

}  // namespace infermeter
