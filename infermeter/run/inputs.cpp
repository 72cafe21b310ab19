#include "infermeter/run/inputs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "infermeter/data/make_data.hpp"
#include "infermeter/data/value_block.hpp"
#include "infermeter/plan/split_mix64.hpp"
#include "infermeter/worker/memory_limit.hpp"
#include "infermeter/worker/picture_process.hpp"

namespace infermeter {

std::string signature_of(std::span<const Port> inputs) {
  std::string text;
  for (const Port& port : inputs) {
    text += fmt::format(";{}:{}:{}:{}:{}", port.name, static_cast<int>(port.kind), static_cast<int>(port.dtype),
                        fmt::join(port.shape, "x"), port.batch_axis.value_or(-1));
  }
  return text;
}

namespace {

std::uint64_t bytes_in(const DataSet& data) {
  std::uint64_t bytes = 0;
  for (const DataItem& item : data.items) bytes += block_size(std::span(&item.inputs, 1));
  return bytes;
}

std::uint64_t digest_of_items(const DataSet& data) {
  std::uint64_t all = 0;
  for (const DataItem& item : data.items) all = SplitMix64(all ^ digest(item.inputs)).next();
  return all;
}

}  // namespace

DataOptions data_options_of(const Plan& plan, const Subject& subject, const Launcher& launcher,
                            const std::atomic<int>* interrupt) {
  return {.source = plan.data.source,
          .distributions = plan.data.distributions,
          .batch_size = subject.batch_size,
          .limit = plan.data.limit,
          .seed = plan.data.seed,
          .most_bytes = most_bytes_of_data(plan.limits.memory_limit_bytes),
          .labels = plan.data.labels,
          .interrupt = interrupt,
          .open_pictures =
              launcher.worker.empty() ? OpenPictures() : pictures_in_workers(launcher, plan.sandbox, interrupt)};
}

Result<DataSet> RunInputs::operator()(const Subject& subject, std::span<const Port> ports) {
  const std::string key = std::to_string(subject.batch_size) + signature_of(ports);
  const auto place = made_.find(key);
  if (place != made_.end()) return place->second;
  const DataOptions options = data_options_of(plan_, subject, launcher_, interrupt_);
  INFERMETER_TRY(auto data, make_data(options, ports));
  if (options.source != "synthetic") data.digest = digest_of_items(data);
  // A worker that asks for other inputs each time gets them, but not all are kept.
  const std::uint64_t bytes = bytes_in(data);
  if (bytes_ + bytes > options.most_bytes) {
    made_.clear();
    bytes_ = 0;
  }
  bytes_ += bytes;
  return made_.emplace(key, std::move(data)).first->second;
}

}  // namespace infermeter
