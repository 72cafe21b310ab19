#include "infermeter/run_inputs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace infermeter {
namespace {

// Names count only where data are looked up by name; synthetic bytes must not depend on them, or two files of one model
// that name their inputs differently would get different inputs.
std::string signature(std::int64_t batch_size, std::span<const Port> ports) {
  std::string text = fmt::format("{}", batch_size);
  for (const auto& port : ports) {
    text += fmt::format(";{}:{}:{}:{}:{}", port.name, static_cast<int>(port.kind), static_cast<int>(port.dtype),
                        fmt::join(port.shape, "x"), port.batch_axis.value_or(-1));
  }
  return text;
}

}  // namespace

DataOptions data_options_of(const Plan& plan, const Subject& subject) {
  return {.source = plan.data.source,
          .distributions = plan.data.distributions,
          .batch_size = subject.batch_size,
          .limit = plan.data.limit,
          .seed = plan.data.seed,
          .labels = plan.data.labels};
}

Result<DataSet> RunInputs::operator()(const Subject& subject, std::span<const Port> ports) {
  const std::string key = signature(subject.batch_size, ports);
  const auto place = made_.find(key);
  if (place != made_.end()) return place->second;
  DataOptions options = data_options_of(plan_, subject);
  options.interrupt = interrupt_;
  INFERMETER_TRY(auto data, make_data(options, ports));
  return made_.emplace(key, std::move(data)).first->second;
}

}  // namespace infermeter
