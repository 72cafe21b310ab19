#include "cli/output/tensorboard.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "cli/output/output_file.hpp"
#include "cli/output/profile_files.hpp"
#include "infermeter/report/forms/tensorboard.hpp"
#include "infermeter/report/report.hpp"
#include "infermeter/text/quoted.hpp"

namespace infermeter {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTensorBoard = "TensorBoard";
constexpr std::size_t largest_picture = 16 << 20;

// The PNG files of a folder, by name.
Result<std::vector<NamedPicture>> pictures_in(const std::string& folder) {
  std::vector<NamedPicture> pictures;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (entry->path().extension() != ".png") continue;
    INFERMETER_TRY(std::string bytes, read_text_file(entry->path(), largest_picture, "picture"));
    pictures.push_back({entry->path().stem().string(), std::move(bytes)});
  }
  if (error || pictures.empty()) {
    return io_error(fmt::format("--pictures: {} {}", printable(folder, 300),
                                error ? "cannot be read: " + error.message() : std::string("contains no PNG file")));
  }
  std::ranges::sort(pictures, {}, &NamedPicture::name);
  return pictures;
}

}  // namespace

void TensorBoardFlags::declare(CLI::App& app) {
  app.add_option("--tensorboard", folder,
                 "Instead of printing, write a log folder for TensorBoard: scalars and histograms of latencies, with a "
                 "step for each run, and the operators of profiled runs.")
      ->type_name("FOLDER")
      ->group(kTensorBoard);
  app.add_option("--pictures", pictures,
                 "With --tensorboard: also show the PNG files of this folder, for example those of `infermeter "
                 "validate --diff-images`.")
      ->type_name("FOLDER")
      ->group(kTensorBoard);
}

Result<Done> TensorBoardFlags::check() const {
  if (folder.empty()) return usage_error("--pictures says what --tensorboard shows: give --tensorboard FOLDER as well");
  return check_folder_to_be("--tensorboard", folder);
}

Result<Done> TensorBoardFlags::write(Surroundings& world, const std::vector<RunRecord>& runs, bool overwrite) const {
  std::vector<NamedPicture> shown;
  if (!pictures.empty()) {
    INFERMETER_TRY(shown, pictures_in(pictures));
  }
  const auto files = tensorboard_files(runs, shown);
  INFERMETER_TRY(const double bytes, write_exports("--tensorboard", folder, files, overwrite));
  world.err << fmt::format("tensorboard --logdir {} shows it ({} files, {})\n", printable(folder, 300), files.size(),
                           format_bytes(bytes));
  return Done{};
}

}  // namespace infermeter
