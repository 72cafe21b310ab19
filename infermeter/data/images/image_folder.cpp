#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "infermeter/data/images/image_data.hpp"
#include "infermeter/text/ascii.hpp"
#include "infermeter/text/quoted.hpp"

namespace infermeter {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostFolderEntries = 10'000'000;

bool is_picture(const fs::path& path) {
  const std::string ending = lowered(path.extension().string());
  return ending == ".jpg" || ending == ".jpeg" || ending == ".png";
}

struct Listing {
  std::vector<std::string> folders;
  std::vector<std::string> pictures;
};

// Sorted names without the hidden ones; what is neither a folder nor a regular file is left out.
Result<Listing> list(const fs::path& folder) {
  std::error_code error;
  Listing out;
  fs::directory_iterator entries(folder, error);
  for (std::size_t count = 0; !error && entries != fs::directory_iterator(); entries.increment(error), ++count) {
    if (count == kMostFolderEntries)
      return io_error(fmt::format("{} has too many entries", in_quotes(folder.string())));
    const std::string name = entries->path().filename().string();
    std::error_code unknown;
    if (name.starts_with('.')) continue;
    if (entries->is_directory(unknown)) out.folders.push_back(name);
    if (is_picture(entries->path()) && entries->is_regular_file(unknown)) out.pictures.push_back(name);
  }
  if (error) return io_error(fmt::format("cannot list {}: {}", in_quotes(folder.string()), error.message()));
  std::sort(out.folders.begin(), out.folders.end());
  std::sort(out.pictures.begin(), out.pictures.end());
  return out;
}

}  // namespace

Result<ImageFolder> list_images(const std::string& folder) {
  const fs::path root(folder);
  INFERMETER_TRY(const Listing top, list(root));
  ImageFolder out;
  for (const std::string& class_name : top.folders) {
    INFERMETER_TRY(const Listing inside, list(root / class_name));
    const int label = static_cast<int>(out.class_names.size());
    out.class_names.push_back(class_name);
    for (const std::string& name : inside.pictures) out.files.push_back({(root / class_name / name).string(), label});
  }
  if (!out.files.empty()) return out;
  out.class_names.clear();
  for (const std::string& name : top.pictures) out.files.push_back({(root / name).string(), -1});
  if (out.files.empty()) {
    return usage_error(
        fmt::format("{} has no images (.jpg, .jpeg, .png), neither in it nor in class folders, and no ONNX test data "
                    "(input_0.pb); give another folder with --data",
                    in_quotes(folder)));
  }
  return out;
}

}  // namespace infermeter
