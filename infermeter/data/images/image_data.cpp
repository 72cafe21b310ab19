#include "infermeter/data/images/image_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <new>
#include <thread>

#include "infermeter/data/arrays/number_formats.hpp"
#include "infermeter/data/images/resize.hpp"
#include "infermeter/data/port_fit.hpp"
#include "infermeter/diagnostics/interrupt.hpp"
#include "infermeter/text/quoted.hpp"

namespace infermeter {
namespace {

// Of ImageNet's pixels, red, green, blue, in 0 … 1: the constants that torchvision's models were trained with.
constexpr std::array<float, 3> kMean{0.485F, 0.456F, 0.406F};
constexpr std::array<float, 3> kStandardDeviation{0.229F, 0.224F, 0.225F};

// How the input wants a batch of pictures.
struct PixelLayout {
  Shape shape;
  DType dtype = DType::float32;
  bool channels_last = false;
  std::size_t batch = 0;
  std::size_t width = 0;
  std::size_t height = 0;
};

Error no_picture_input(const Port& port) {
  return usage_error(fmt::format(
      "images fit inputs [N, 3, H, W] or [N, H, W, 3] of float32, float16, bfloat16 or uint8, input {} is {}",
      in_quotes(port.name), describe(port)));
}

bool takes_pictures(const Port& port) {
  switch (port.dtype) {
    case DType::float32:
    case DType::float16:
    case DType::bfloat16:
    case DType::uint8: break;
    default: return false;
  }
  return port.kind == Value::Kind::tensor && port.rank_known && port.shape.size() == 4 &&
         (port.shape[1] == 3 || port.shape[3] == 3);
}

Result<PixelLayout> layout_for(const DataOptions& options, std::span<const Port> ports) {
  if (ports.size() != 1) {
    return usage_error(
        fmt::format("images fit models with one input, this one has {}; give an .npz file with --data", ports.size()));
  }
  const Port& port = ports.front();
  if (!takes_pictures(port)) return no_picture_input(port);
  if (port.batch_axis ? *port.batch_axis != 0 : port.shape[0] > 1) {
    return usage_error(
        fmt::format("images fill the first dimension of input {}, {}, which is not its batch: give "
                    "--batch-axis {}=0 if it is",
                    in_quotes(port.name), describe(port), port.name));
  }
  INFERMETER_TRY(Shape shape, concrete_shape(port, options.batch_size));
  if (!element_count(shape).value_or(0)) return no_picture_input(port);
  PixelLayout layout{.shape = shape, .dtype = port.dtype, .channels_last = shape[1] != 3};
  layout.batch = static_cast<std::size_t>(shape[0]);
  layout.height = static_cast<std::size_t>(shape[layout.channels_last ? 1 : 2]);
  layout.width = static_cast<std::size_t>(shape[layout.channels_last ? 2 : 3]);
  if (layout.width > kMostPixels / layout.height) return no_picture_input(port);
  return layout;
}

// Leaves the files of the items that were asked for; how many items there are in all.
Result<std::int64_t> trim(ImageFolder& folder, const PixelLayout& layout, const DataOptions& options) {
  const std::size_t available = folder.files.size() / layout.batch;
  if (available == 0) {
    return usage_error(fmt::format("{} has {} images, fewer than the batch size {}; use a smaller one",
                                   in_quotes(options.source), folder.files.size(), layout.batch));
  }
  INFERMETER_TRY_DONE(check_first(options, static_cast<std::int64_t>(available)));
  const auto first = static_cast<std::size_t>(options.first);
  std::size_t items = available - first;
  if (options.limit > 0) items = std::min(items, static_cast<std::size_t>(options.limit));
  const std::uint64_t item_bytes = bytes_of(layout.dtype, element_count(layout.shape).value_or(0));
  if (item_bytes > options.most_bytes / items) {
    return usage_error(
        fmt::format("the images of {} would take more than {}", in_quotes(options.source), most_data(options)));
  }
  const auto begin = folder.files.begin() + static_cast<std::ptrdiff_t>(first * layout.batch);
  folder.files = {begin, begin + static_cast<std::ptrdiff_t>(items * layout.batch)};
  return static_cast<std::int64_t>(available);
}

void store(DType dtype, std::uint8_t grey_level, std::size_t channel, std::byte* out, std::size_t index) {
  if (dtype == DType::uint8) {
    out[index] = static_cast<std::byte>(grey_level);
    return;
  }
  const float value = (static_cast<float>(grey_level) / 255.0F - kMean[channel]) / kStandardDeviation[channel];
  if (dtype == DType::float32) {
    std::memcpy(out + index * sizeof value, &value, sizeof value);
  } else {
    const std::uint16_t half = dtype == DType::float16 ? float16_from(value) : bfloat16_from(value);
    std::memcpy(out + index * sizeof half, &half, sizeof half);
  }
}

void store_image(const Image& image, const PixelLayout& layout, std::byte* out) {
  const std::size_t pixels = image.width * image.height;
  for (std::size_t pixel = 0; pixel < pixels; ++pixel) {
    for (std::size_t channel = 0; channel < 3; ++channel) {
      const std::size_t index = layout.channels_last ? pixel * 3 + channel : channel * pixels + pixel;
      store(layout.dtype, image.pixels[pixel * 3 + channel], channel, out, index);
    }
  }
}

std::string item_name(std::span<const ImageFile> files) {
  if (files.size() == 1) return files.front().path;
  return fmt::format("{} … {}", files.front().path, files.back().path);
}

// Files that could not be read are gathered, so that the user hears of all at once.
using Failures = std::vector<std::string>;

DataItem make_item(std::span<const ImageFile> files, const PixelLayout& layout, const ReadPicture& read,
                   Failures& failures) {
  DataItem item{.name = item_name(files), .inputs = {}, .expected = {}, .labels = {}};
  std::byte* writable = nullptr;
  const std::size_t size = bytes_of(layout.dtype, element_count(layout.shape).value_or(0));
  const Bytes bytes = Bytes::allocate(size, &writable);
  for (std::size_t i = 0; i < files.size(); ++i) {
    const auto image = read(files[i].path, layout.width, layout.height);
    if (image.ok()) {
      store_image(*image, layout, writable + i * (size / files.size()));
    } else {
      failures.push_back(image.error().message);
    }
    if (files[i].label >= 0) item.labels.push_back(files[i].label);
  }
  item.inputs.push_back({.tensor = {layout.dtype, layout.shape, bytes, {}}, .elements = {}});
  return item;
}

Result<Image> read_here(const std::string& path, std::size_t width, std::size_t height) {
  INFERMETER_TRY(const Image image, read_image(path));
  return prepared(image, width, height);
}

// Decoded by as many threads as there are processors: whoever waits for the pictures has nothing else to do.
Failures make_items(std::span<const ImageFile> files, const PixelLayout& layout, const DataOptions& options,
                    std::vector<DataItem>& items) {
  items.resize(files.size() / layout.batch);
  std::vector<Failures> failures(items.size());
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> is_too_much = false;  // no exception leaves a thread
  const auto make = [&] {
    try {
      const ReadPicture read = options.open_pictures ? options.open_pictures() : read_here;
      for (std::size_t i = next++; i < items.size(); i = next++) {
        if (look_at_interrupts(options.interrupt) != 0) {
          failures[i].emplace_back("stopped by a signal");
          return;
        }
        items[i] = make_item(files.subspan(i * layout.batch, layout.batch), layout, read, failures[i]);
      }
    } catch (const std::bad_alloc&) {
      is_too_much = true;
    }
  };
  std::vector<std::jthread> helpers;
  const std::size_t threads = std::min<std::size_t>(std::thread::hardware_concurrency(), items.size());
  for (std::size_t i = 1; i < threads; ++i) helpers.emplace_back(make);
  make();
  helpers.clear();  // each is waited for
  if (is_too_much) throw std::bad_alloc();
  Failures all;
  for (const Failures& some : failures) all.insert(all.end(), some.begin(), some.end());
  return all;
}

// What is to be read, and how.
struct Wanted {
  PixelLayout layout;
  ImageFolder folder;
  std::int64_t available = 0;
};

Result<Wanted> wanted_pictures(const DataOptions& options, std::span<const Port> ports) {
  Wanted wanted;
  INFERMETER_TRY(wanted.layout, layout_for(options, ports));
  INFERMETER_TRY(wanted.folder, list_images(options.source));
  INFERMETER_TRY(wanted.available, trim(wanted.folder, wanted.layout, options));
  return wanted;
}

Error unreadable(const Failures& failures, const DataOptions& options) {
  if (look_at_interrupts(options.interrupt) != 0) return worker_error("interrupted while images were read");
  constexpr std::size_t kShown = 3;
  std::string message = failures[0];
  for (std::size_t i = 1; i < std::min(failures.size(), kShown); ++i) message += "; " + failures[i];
  if (failures.size() > kShown) message += fmt::format("; and {} more", failures.size() - kShown);
  return io_error(message + fmt::format(" ({} unreadable in all)", failures.size()));
}

}  // namespace

Image prepared(const Image& image, std::size_t width, std::size_t height) {
  const std::size_t target = std::max(width, height);
  const std::size_t shorter = (target * 256 + 112) / 224;  // rounded; never less than the target
  const Size size = size_with_shorter_side({image.width, image.height}, shorter);
  return resized(image, size, centre_crop(size, {width, height}));
}

Result<DataSet> make_from_images(const DataOptions& options, std::span<const Port> ports) {
  INFERMETER_TRY(Wanted wanted, wanted_pictures(options, ports));
  DataSet set;
  set.available = wanted.available;
  set.class_names = std::move(wanted.folder.class_names);
  const Failures failures = make_items(wanted.folder.files, wanted.layout, options, set.items);
  if (!failures.empty()) return unreadable(failures, options);
  return set;
}

Result<DataSet> sample_of_images(const DataOptions& options, std::span<const Port> ports) {
  INFERMETER_TRY(Wanted wanted, wanted_pictures(options, ports));
  wanted.folder.files.resize(wanted.layout.batch);
  DataSet set;
  set.available = wanted.available;
  const Failures failures = make_items(wanted.folder.files, wanted.layout, options, set.items);
  if (!failures.empty()) return unreadable(failures, options);
  return set;
}

}  // namespace infermeter
