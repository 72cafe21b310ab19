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
    text += fmt::format(";{}:{}:{}:{}", port.name, static_cast<int>(port.kind), static_cast<int>(port.dtype),
                        fmt::join(port.shape, "x"));
  }
  return text;
}

}  // namespace

Result<DataSet> RunInputs::operator()(const Subject& subject, std::span<const Port> ports) {
  const std::string key = signature(subject.batch_size, ports);
  const auto place = made_.find(key);
  if (place != made_.end()) return place->second;
  INFERMETER_TRY(auto data, make_data({.source = plan_.data.source,
                                       .distributions = plan_.data.distributions,
                                       .batch_size = subject.batch_size,
                                       .limit = plan_.data.limit,
                                       .seed = plan_.seed,
                                       .labels = plan_.data.labels},
                                      ports));
  return made_.emplace(key, std::move(data)).first->second;
}

}  // namespace infermeter
