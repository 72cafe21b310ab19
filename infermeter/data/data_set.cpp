#include "infermeter/data/data_set.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <new>
#include <system_error>

#include "infermeter/data/array_data.hpp"
#include "infermeter/data/image_data.hpp"
#include "infermeter/data/labels.hpp"
#include "infermeter/data/perturb.hpp"
#include "infermeter/data/port_fit.hpp"
#include "infermeter/data/quoted.hpp"
#include "infermeter/data/synthetic.hpp"
#include "infermeter/data/test_data_set.hpp"

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

Result<DataSet> from_folder(const DataOptions& options, std::span<const Port> ports, std::span<const Port> outputs) {
  if (is_test_data_set(options.source)) return make_from_test_data_set(options, ports, outputs);
  const std::string inner = (std::filesystem::path(options.source) / "test_data_set_0").string();
  if (is_test_data_set(inner)) {
    return usage_error(fmt::format("{} is a folder of ONNX test data sets; give one of them, such as {}",
                                   in_quotes(options.source), in_quotes(inner)));
  }
  return make_from_images(options, ports);
}

Result<DataSet> from_file(const DataOptions& options, std::span<const Port> ports) {
  const std::string& path = options.source;
  if (path.ends_with(".npy") || path.ends_with(".npz")) return make_from_arrays(options, ports);
  if (path.ends_with(".pb")) {
    return usage_error(
        fmt::format("{} is one tensor of a test data set; give its folder with --data", in_quotes(path)));
  }
  return usage_error(fmt::format(
      "{} is no data that can be read; --data takes synthetic, a .npy or .npz file, a folder of pictures or an ONNX "
      "test_data_set folder",
      in_quotes(path)));
}

Result<DataSet> data_from(const DataOptions& options, std::span<const Port> ports, std::span<const Port> outputs) {
  if (options.source == "synthetic") return make_synthetic(options, ports);
  switch (source_kind(options.source)) {
    case SourceKind::folder: return from_folder(options, ports, outputs);
    case SourceKind::file: return from_file(options, ports);
    case SourceKind::missing: break;
  }
  return usage_error(
      fmt::format("there is no {}; --data takes synthetic, a .npy or .npz file, a folder of pictures or an ONNX "
                  "test_data_set folder",
                  in_quotes(options.source)));
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

// A value per input, the noise drawn anew for each item. Names stay as they are.
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

}  // namespace

Result<DataSet> make_data(const DataOptions& options, std::span<const Port> ports, std::span<const Port> outputs) {
  INFERMETER_TRY_DONE(check_options(options));
  try {
    auto made = options.perturb > 0 ? make_perturbed(options, ports, outputs) : data_from(options, ports, outputs);
    if (made.ok()) INFERMETER_TRY_DONE(attach_labels(*made, options));
    return made;
  } catch (const std::bad_alloc&) {
    return usage_error("there is not enough memory for the data; use a smaller batch size or --data-limit");
  } catch (const std::filesystem::filesystem_error& error) {
    return io_error(fmt::format("{} cannot be read: {}", in_quotes(options.source), error.code().message()));
  }
}

}  // namespace infermeter
