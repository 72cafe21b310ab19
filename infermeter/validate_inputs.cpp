#include "infermeter/validate_inputs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "infermeter/trial/clock.hpp"

namespace infermeter {
namespace {

std::string key_of(std::int64_t batch_size, std::span<const Port> ports, std::int64_t first, std::int64_t count,
                   bool with_labels) {
  std::string text = fmt::format("{};{};{};{}", batch_size, first, count, with_labels);
  for (const Port& port : ports) {
    text += fmt::format(";{}:{}:{}:{}:{}", port.name, static_cast<int>(port.kind), static_cast<int>(port.dtype),
                        fmt::join(port.shape, "x"), port.batch_axis.value_or(-1));
  }
  return text;
}

// Items that are asked for; 0: all that there are.
std::int64_t asked(const ValidationRequest& request) {
  const std::int64_t limit = request.plan.data.limit;
  if (request.plan.data.source == "synthetic" && request.perturb == 0) return std::max<std::int64_t>(limit, 1);
  return limit;
}

std::uint64_t bytes_of(const Value& value) {
  std::uint64_t bytes = value.tensor.data.size();
  for (const std::string& text : value.tensor.strings) bytes += sizeof text + text.size();
  for (const Value& element : value.elements) bytes += bytes_of(element);
  return bytes;
}

}  // namespace

Result<DataSet> ValidationInputs::operator()(const Subject& subject, std::span<const Port> ports, std::int64_t first,
                                             std::int64_t count, bool with_labels) {
  std::string key = key_of(subject.batch_size, ports, first, count, with_labels);
  if (key == key_) return made_;
  const double begin = monotonic_s();
  const std::int64_t wanted = asked(request_);
  const std::int64_t limit = wanted > 0 ? std::min(count, wanted - first) : count;
  const Plan& plan = request_.plan;
  made_ = {};
  key_.clear();
  INFERMETER_TRY(made_, make_data({.source = plan.data.source,
                                   .distributions = plan.data.distributions,
                                   .batch_size = std::max<std::int64_t>(subject.batch_size, 1),
                                   .first = first,
                                   .limit = limit,
                                   .seed = plan.data.seed,
                                   .perturb = request_.perturb,
                                   .noise = request_.noise,
                                   .labels = with_labels ? plan.data.labels : std::string(),
                                   .interrupt = interrupt_},
                                  ports));
  key_ = std::move(key);
  items_ = wanted > 0 ? std::min(wanted, made_.available) : made_.available;
  seconds_ += monotonic_s() - begin;
  return made_;
}

std::uint64_t bytes_of(const ItemValues& values) {
  std::uint64_t bytes = 0;
  for (const Value& value : values) bytes += bytes_of(value);
  return bytes;
}

std::int64_t items_in_a_part(std::uint64_t bytes_per_item, std::uint64_t most_bytes) {
  const std::uint64_t items = most_bytes / std::max<std::uint64_t>(bytes_per_item, 1);
  return static_cast<std::int64_t>(std::clamp<std::uint64_t>(items, 1, 1'000'000));
}

}  // namespace infermeter
