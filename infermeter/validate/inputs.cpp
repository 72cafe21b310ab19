#include "infermeter/validate/inputs.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "infermeter/data/make_data.hpp"
#include "infermeter/run/inputs.hpp"
#include "infermeter/trial/machine/clock.hpp"

namespace infermeter {
namespace {

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
  std::string key = fmt::format("{};{};{};{}", subject.batch_size, first, count, with_labels) + signature_of(ports);
  if (key == key_) return made_;
  const double begin = monotonic_s();
  const std::int64_t wanted = asked(request_);
  const std::int64_t limit = wanted > 0 ? std::min(count, wanted - first) : count;
  made_ = {};
  key_.clear();
  DataOptions options = data_options_of(request_.plan, subject, launcher_, interrupt_);
  options.batch_size = std::max<std::int64_t>(subject.batch_size, 1);
  options.first = first;
  options.limit = limit;
  options.perturb = request_.perturb;
  options.noise = request_.noise;
  if (!with_labels) options.labels.clear();
  INFERMETER_TRY(made_, make_data(options, ports));
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
