#include "infermeter/data/make_data.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <new>
#include <system_error>

#include "infermeter/data/arrays/array_data.hpp"
#include "infermeter/data/arrays/npz.hpp"
#include "infermeter/data/arrays/test_data_set.hpp"
#include "infermeter/data/images/image_data.hpp"
#include "infermeter/data/labels.hpp"
#include "infermeter/data/perturb.hpp"
#include "infermeter/data/port_fit.hpp"
#include "infermeter/data/synthetic.hpp"
#include "infermeter/text/quoted.hpp"

namespace infermeter {
namespace {

Result<Done> check_options(const DataOptions& options) {
  if (options.batch_size < 1) {
    return usage_error(fmt::format("the batch size must be at least 1, not {}", options.batch_size));
  }
  if (options.limit < 0) {
    return usage_error(fmt::format("--data-limit must be 0 (no limit) or more, not {}", options.limit));
  }
  if (options.perturb < 0 || options.perturb > kMostItems) {
    return usage_error(fmt::format("--perturb must be between 1 and {}, not {}", kMostItems, options.perturb));
  }
  if (!(options.noise >= 0 && options.noise <= 1)) {
    return usage_error(fmt::format("--noise must be a share between 0 and 1, not {}", options.noise));
  }
  if (options.perturb > 0 && !options.labels.empty()) {
    return usage_error(
        "--perturb makes its own inputs, of which no labels are known: leave --labels out, or --perturb");
  }
  return Done{};
}

enum class SourceKind { missing, folder, file };

SourceKind source_kind(const std::string& source) {
  std::error_code error;
  const auto status = std::filesystem::status(source, error);
  if (std::filesystem::is_directory(status)) return SourceKind::folder;
  return std::filesystem::exists(status) ? SourceKind::file : SourceKind::missing;
}

std::string first_inside(const std::string& folder) {
  return (std::filesystem::path(folder) / "test_data_set_0").string();
}

Error folder_of_sets(const std::string& folder) {
  return usage_error(fmt::format("{} is a folder of ONNX test data sets; give one of them, such as {}",
                                 in_quotes(folder), in_quotes(first_inside(folder))));
}

Error no_data_file(const std::string& path) {
  if (path.ends_with(".pb")) {
    return usage_error(
        fmt::format("{} is one tensor of a test data set; give its folder with --data", in_quotes(path)));
  }
  return usage_error(fmt::format(
      "{} cannot be read as data; --data takes synthetic, a .npy or .npz file, a folder of images or an ONNX "
      "test_data_set folder",
      in_quotes(path)));
}

Error no_such_data(const std::string& source) {
  return usage_error(
      fmt::format("there is no {}; --data takes synthetic, a .npy or .npz file, a folder of images or an ONNX "
                  "test_data_set folder",
                  in_quotes(source)));
}

Result<DataSet> from_folder(const DataOptions& options, std::span<const Port> ports, std::span<const Port> outputs) {
  if (is_test_data_set(options.source)) return make_from_test_data_set(options, ports, outputs);
  if (is_test_data_set(first_inside(options.source))) return folder_of_sets(options.source);
  return make_from_images(options, ports);
}

Result<DataSet> from_file(const DataOptions& options, std::span<const Port> ports) {
  const std::string& path = options.source;
  if (path.ends_with(".npy") || path.ends_with(".npz")) return make_from_arrays(options, ports);
  return no_data_file(path);
}

Result<DataSet> data_from(const DataOptions& options, std::span<const Port> ports, std::span<const Port> outputs) {
  if (options.source == "synthetic") return make_synthetic(options, ports);
  switch (source_kind(options.source)) {
    case SourceKind::folder: return from_folder(options, ports, outputs);
    case SourceKind::file: return from_file(options, ports);
    case SourceKind::missing: break;
  }
  return no_such_data(options.source);
}

std::int64_t rows_in(const DataItem& item, std::span<const Port> ports) {
  for (std::size_t i = 0; i < ports.size() && i < item.inputs.size(); ++i) {
    if (!ports[i].batch_axis) continue;
    const Shape& shape = item.inputs[i].tensor.shape;
    const auto axis = static_cast<std::size_t>(*ports[i].batch_axis);
    if (axis < shape.size()) return shape[axis];
  }
  return 1;
}

// The first item that the options ask for, and how many there are.
Result<DataSet> sample_of(const DataOptions& options, std::span<const Port> ports) {
  const bool is_folder = options.source != "synthetic" && source_kind(options.source) == SourceKind::folder;
  if (is_folder && !is_test_data_set(options.source) && !is_test_data_set(first_inside(options.source))) {
    return sample_of_images(options, ports);
  }
  DataOptions one = options;
  one.limit = 1;
  return data_from(one, ports, {});
}

Result<Done> check_given_data(const DataOptions& options, std::span<const Port> ports) {
  INFERMETER_TRY_DONE(check_options(options));
  if (options.source == "synthetic" && options.labels.empty()) return check_synthetic(options, ports);
  INFERMETER_TRY(DataSet sample, sample_of(options, ports));
  sample.rows_per_item = rows_in(sample.items.front(), ports);
  if (options.source == "synthetic") sample.available = options.first + std::max<std::int64_t>(options.limit, 1);
  return check_labels(sample, options);
}

Result<Done> check_folder(const DataOptions& options) {
  if (is_test_data_set(options.source)) return Done{};
  if (is_test_data_set(first_inside(options.source))) return folder_of_sets(options.source);
  INFERMETER_TRY(const ImageFolder folder, list_images(options.source));
  return Done{};
}

Result<Done> check_file(const DataOptions& options) {
  if (options.source.ends_with(".npy")) {
    INFERMETER_TRY(const NpyHeader header, npy_header(options.source));
    return Done{};
  }
  if (options.source.ends_with(".npz")) {
    INFERMETER_TRY(const NpzFile file, NpzFile::open(options.source));
    return Done{};
  }
  return no_data_file(options.source);
}

Result<Done> check_given_source(const DataOptions& options) {
  INFERMETER_TRY_DONE(check_options(options));
  if (options.source == "synthetic") return Done{};
  switch (source_kind(options.source)) {
    case SourceKind::folder: return check_folder(options);
    case SourceKind::file: return check_file(options);
    case SourceKind::missing: break;
  }
  return no_such_data(options.source);
}

// Numbers with a fraction come as float32, whatever the file has them in.
std::string shape_of_array(const NpyHeader& header) {
  if (header.shape.empty() || bits_of(header.dtype) == 0) return "";
  Shape item = header.shape;
  item.front() = 1;
  constexpr std::array floats{DType::float16, DType::bfloat16, DType::float32, DType::float64};
  const bool is_float = std::ranges::find(floats, header.dtype) != floats.end();
  return fmt::format("{}{}", fmt::join(item, "x"), is_float ? "" : fmt::format(":{}", to_string(header.dtype)));
}

// The range that an input's numbers are known to be valid in; nullopt: as far as is seen.
Result<std::optional<ValidRange>> known_range(const Port& port, const DataOptions& options) {
  if (options.source != "synthetic") return std::optional<ValidRange>();
  INFERMETER_TRY(const Distribution drawn, distribution_of(port, options));
  switch (drawn.kind) {
    case Distribution::Kind::uniform: return std::optional(ValidRange{drawn.low, drawn.high});
    case Distribution::Kind::integers:
      return std::optional(ValidRange{static_cast<double>(drawn.lowest), static_cast<double>(drawn.highest)});
    default: return std::optional<ValidRange>();
  }
}

// A value per input, the noise drawn again for each item. Names stay as they are.
Result<std::vector<std::optional<Perturber>>> perturbers_for(const DataItem& base, const DataOptions& options,
                                                             std::span<const Port> ports) {
  std::vector<std::optional<Perturber>> perturbers(base.inputs.size());
  for (std::size_t i = 0; i < base.inputs.size() && i < ports.size(); ++i) {
    const Value& value = base.inputs[i];
    if (value.kind != Value::Kind::tensor || !takes_noise(value.tensor.dtype, ports[i].name)) continue;
    INFERMETER_TRY(const auto range, known_range(ports[i], options));
    perturbers[i].emplace(
        value.tensor, PerturbOptions{.noise = options.noise, .seed = options.seed, .input_index = i, .range = range});
  }
  return perturbers;
}

Result<DataSet> make_perturbed(const DataOptions& options, std::span<const Port> ports, std::span<const Port> outputs) {
  INFERMETER_TRY_DONE(check_first(options, options.perturb));
  DataOptions of_base = options;
  of_base.first = 0;
  of_base.limit = 1;
  INFERMETER_TRY(const DataSet source, data_from(of_base, ports, outputs));
  const DataItem& base = source.items.front();
  INFERMETER_TRY(const auto perturbers, perturbers_for(base, options, ports));
  const std::int64_t left = options.perturb - options.first;
  const std::int64_t end = options.first + (options.limit > 0 ? std::min(options.limit, left) : left);
  DataSet set;
  set.available = options.perturb;
  for (std::int64_t item = options.first; item < end; ++item) {
    DataItem& made = set.items.emplace_back();
    made.name = item == 0 ? base.name : fmt::format("{} with noise {}", base.name, item);
    made.inputs = base.inputs;
    for (std::size_t i = 0; i < perturbers.size() && item > 0; ++i) {
      if (perturbers[i]) made.inputs[i].tensor = (*perturbers[i])(static_cast<std::uint64_t>(item));
    }
  }
  return set;
}

constexpr std::uint64_t much_data = 64 << 20, much_in_a_file = 1 << 20;  // bytes

// Whether memory can have run out because of the data. For less it has run out for everything, which is no fault of the
// subject that wants them.
bool is_much(const DataOptions& options, std::span<const Port> ports) {
  std::error_code error;
  if (std::filesystem::is_directory(options.source, error)) return true;
  const auto file_bytes = std::filesystem::file_size(options.source, error);  // not for synthetic data
  if (!error && file_bytes >= much_in_a_file) return true;
  std::uint64_t bytes = 0;
  for (const Port& port : ports) {
    const auto shape = concrete_shape(port, options.batch_size);
    const auto count = shape.ok() ? element_count(*shape) : std::optional<std::size_t>(0);
    if (!count || *count >= much_data) return true;
    bytes += bytes_of(port.dtype, *count);
  }
  const std::int64_t items = std::max({options.perturb, options.limit, std::int64_t{1}});
  return bytes * static_cast<std::uint64_t>(items) >= much_data;
}

// Runs what reads data: memory and folders that fail become errors.
template <class Read, class MayRunOut>
auto guarded(const DataOptions& options, MayRunOut may_run_out, Read read) -> decltype(read()) {
  try {
    return read();
  } catch (const std::bad_alloc&) {
    if (!may_run_out()) throw;
    return usage_error("there is not enough memory for the data; use a smaller batch size or --data-limit");
  } catch (const std::filesystem::filesystem_error& error) {
    return io_error(fmt::format("{} cannot be read: {}", in_quotes(options.source), error.code().message()));
  }
}

}  // namespace

Result<DataSet> make_data(const DataOptions& options, std::span<const Port> ports, std::span<const Port> outputs) {
  INFERMETER_TRY_DONE(check_options(options));
  const auto may_run_out = [&] { return is_much(options, ports); };
  return guarded(options, may_run_out, [&] {
    auto made = options.perturb > 0 ? make_perturbed(options, ports, outputs) : data_from(options, ports, outputs);
    if (!made.ok()) return made;
    made->rows_per_item = rows_in(made->items.front(), ports);
    if (auto labelled = attach_labels(*made, options); !labelled.ok()) made = labelled.error();
    return made;
  });
}

Result<Done> check_data(const DataOptions& options, std::span<const Port> ports) {
  const auto may_run_out = [] { return true; };
  return guarded(options, may_run_out, [&] { return check_given_data(options, ports); });
}

std::string shape_of_data(const std::string& source) {
  if (source == "synthetic") return "";
  if (source_kind(source) == SourceKind::folder)
    return is_test_data_set(source) || is_test_data_set(first_inside(source)) ? "" : "1x3x224x224";
  const auto header = source.ends_with(".npy") ? npy_header(source) : Result<NpyHeader>(usage_error("no array"));
  return header.ok() ? shape_of_array(*header) : "";
}

Result<Done> check_source(const DataOptions& options) {
  const auto may_run_out = [] { return true; };
  return guarded(options, may_run_out, [&] { return check_given_source(options); });
}

Result<Done> check_labels_source(const DataOptions& options) {
  if (options.labels.empty()) return Done{};
  const auto may_run_out = [] { return true; };
  return guarded(options, may_run_out, [&] { return check_labels_file(options.labels); });
}

}  // namespace infermeter
