#include "cli/output/difference_pictures.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "cli/output/output_file.hpp"
#include "infermeter/report/report.hpp"
#include "infermeter/text/quoted.hpp"
#include "infermeter/validate/difference_pictures.hpp"
#include "infermeter/worker/profile/python_tool.hpp"

namespace infermeter {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPictures = "Pictures";
constexpr int most_slices = 16;

bool is_ours(const fs::path& file) {
  const std::string name = file.filename();
  return name.ends_with("_histogram.png") || (name.ends_with(".png") && name.find("_worst_") != std::string::npos);
}

}  // namespace

void DifferencePictures::declare(CLI::App& app) {
  app.add_option("--diff-images", folder,
                 fmt::format("Draw the {} worst items of every output that is an image or a volume (reference, output, "
                             "difference), and a histogram of the errors. Needs matplotlib.",
                             worst_items))
      ->type_name("FOLDER")
      ->group(kPictures);
  app.add_option("--diff-slices", slices, "Slices of volumes along each axis. Default: 1, the middle one.")
      ->type_name("N")
      ->group(kPictures);
}

void DifferencePictures::check(const Launcher& launcher, bool overwrite, Problems& problems) const {
  if (slices < 1 || slices > most_slices) {
    problems.add(usage_error(fmt::format("--diff-slices: expected 1 to {}, got {}", most_slices, slices)));
  }
  if (folder.empty()) {
    if (slices != 1) {
      problems.add(usage_error("--diff-slices says what --diff-images draws: give --diff-images FOLDER as well"));
    }
    return;
  }
  problems.take(check_folder_to_be("--diff-images", folder));
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (overwrite || !is_ours(entry.path())) continue;
    problems.add(io_error(
        fmt::format("--diff-images: {} holds pictures already: --force writes over them", printable(folder, 200))));
    break;
  }
  problems.take(check_figures(launcher, "--diff-images"));
}

Result<std::vector<std::string>> DifferencePictures::draw(const Surroundings& world, const Launcher& launcher,
                                                          const KeptDifferences& kept,
                                                          std::span<const std::string> outputs,
                                                          std::span<const std::string> items, bool overwrite) const {
  INFERMETER_TRY_DONE(make_folder("--diff-images", folder));
  INFERMETER_TRY(const auto pictures, draw_differences(launcher, kept, outputs, items, slices, world.interrupt));
  std::vector<std::string> files;
  for (const Picture& picture : pictures) {
    files.push_back(fs::path(folder) / picture.file);
    INFERMETER_TRY_DONE(write_file(files.back(), picture.bytes, overwrite));
  }
  return files;
}

}  // namespace infermeter
