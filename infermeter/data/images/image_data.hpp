// Inputs from a folder of photographs, prepared as torchvision's models were trained: shorter side to 256/224 of the
// input's, centre crop, ImageNet's mean and standard deviation.
#pragma once

#include <string>
#include <vector>

#include "infermeter/data/data_set.hpp"
#include "infermeter/data/images/image.hpp"

namespace infermeter {

struct ImageFile {
  std::string path;
  int label = -1;  // index of the class folder; -1: the folder has no class folders
};

struct ImageFolder {
  std::vector<ImageFile> files;  // sorted by class folder, then by name
  std::vector<std::string> class_names;
};

// Pictures in FOLDER/class/ or, where there is none, in FOLDER itself. Errors where there is no picture.
[[nodiscard]] Result<ImageFolder> list_images(const std::string& folder);

// A picture as the model takes it, before scaling to numbers: width x height of the input.
[[nodiscard]] Image prepared(const Image& image, std::size_t width, std::size_t height);

[[nodiscard]] Result<DataSet> make_from_images(const DataOptions& options, std::span<const Port> ports);
// Its first item alone; the errors are those of all items, but for pictures that cannot be decoded.
[[nodiscard]] Result<DataSet> sample_of_images(const DataOptions& options, std::span<const Port> ports);

}  // namespace infermeter
