#include "infermeter/data/data_set.hpp"

#include <fmt/format.h>

#include <new>

#include "infermeter/data/synthetic.hpp"

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

Result<DataSet> data_from(const DataOptions& options, std::span<const Port> ports) {
  return make_synthetic(options, ports);
}

}  // namespace

Result<DataSet> make_data(const DataOptions& options, std::span<const Port> ports) {
  INFERMETER_TRY_DONE(check_options(options));
  try {
    return data_from(options, ports);
  } catch (const std::bad_alloc&) {
    return usage_error("there is not enough memory for the data; use a smaller batch size or --data-limit");
  }
}

}  // namespace infermeter
