#include "infermeter/data/data_set.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <new>
#include <system_error>

#include "infermeter/data/array_data.hpp"
#include "infermeter/data/image_data.hpp"
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
  return Done{};
}

enum class SourceKind { missing, folder, file };

SourceKind kind_of(const std::string& source) {
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
  switch (kind_of(options.source)) {
    case SourceKind::folder: return from_folder(options, ports, outputs);
    case SourceKind::file: return from_file(options, ports);
    case SourceKind::missing: break;
  }
  return usage_error(
      fmt::format("there is no {}; --data takes synthetic, a .npy or .npz file, a folder of pictures or an ONNX "
                  "test_data_set folder",
                  in_quotes(options.source)));
}

}  // namespace

Result<DataSet> make_data(const DataOptions& options, std::span<const Port> ports, std::span<const Port> outputs) {
  INFERMETER_TRY_DONE(check_options(options));
  try {
    return data_from(options, ports, outputs);
  } catch (const std::bad_alloc&) {
    return usage_error("there is not enough memory for the data; use a smaller batch size or --data-limit");
  } catch (const std::filesystem::filesystem_error& error) {
    return io_error(fmt::format("{} cannot be read: {}", in_quotes(options.source), error.code().message()));
  }
}

}  // namespace infermeter
