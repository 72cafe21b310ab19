#include "infermeter/samples/load/check_load_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "infermeter/samples/load/timeline.hpp"

namespace infermeter {
namespace {

using Wrong = std::optional<std::string>;

bool is_time(double value) { return std::isfinite(value) && value >= 0; }

Wrong wrong_in_timeline(const LoadRecord& record) {
  if (record.timeline.size() > kTimelineBins) {
    return fmt::format("'load.timeline' has {} bins, more than {}", record.timeline.size(), kTimelineBins);
  }
  for (const LoadBin& bin : record.timeline) {
    if (!is_time(bin.slowest_s)) return "'load.timeline' has a response time that is none";
    if (std::max({bin.arrived, bin.completed, bin.failed, bin.in_flight}) > kMostRequests) {
      return fmt::format("'load.timeline' has more than {} requests in a bin", kMostRequests);
    }
  }
  return std::nullopt;
}

Wrong wrong_in_steps(const LoadRecord& record) {
  if (record.steps.size() > kMostLoadSteps)
    return fmt::format("'load.steps' has {} rates, more than {}", record.steps.size(), kMostLoadSteps);
  for (const LoadStepRecord& step : record.steps) {
    if (!is_time(step.rate) || !is_time(step.response_s) || step.requests > kMostRequests)
      return "'load.steps' has a figure that is none";
  }
  return std::nullopt;
}

Wrong wrong_in_errors(const LoadRecord& record) {
  if (record.errors.size() > kMostErrorTexts + 1) {
    return fmt::format("'load.errors' has {} texts, more than {}", record.errors.size(), kMostErrorTexts + 1);
  }
  for (const auto& [text, count] : record.errors) {
    if (text.size() > kMostErrorBytes) return fmt::format("'load.errors' has a text of {} bytes", text.size());
    if (count > kMostRequests) return fmt::format("'load.errors' counts more than {}", kMostRequests);
  }
  if (record.error_kinds.size() > std::size(kErrorKinds)) return "'load.error_kinds' has more kinds than there are";
  for (const auto& [kind, count] : record.error_kinds) {
    if (std::ranges::find(kErrorKinds, kind) == std::end(kErrorKinds)) return "'load.error_kinds' has an unknown kind";
    if (count > kMostRequests) return fmt::format("'load.error_kinds' counts more than {}", kMostRequests);
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> wrong_in_histogram(std::string_view name, const HistogramRecord& histogram) {
  if (!is_time(histogram.tick_s)) return fmt::format("'{}.tick_s' is not a duration", name);
  if (!histogram.counts.empty() && histogram.tick_s == 0) return fmt::format("'{}.tick_s' is 0", name);
  std::uint64_t all = 0;
  std::uint32_t least = 0;
  for (const auto& [bucket, count] : histogram.counts) {
    if (bucket < least) return fmt::format("'{}.counts' is not in ascending order at bucket {}", name, bucket);
    if (bucket >= LogHistogram::kBuckets) {
      return fmt::format("'{}.counts' has bucket {}, and the last one is {}", name, bucket, LogHistogram::kBuckets - 1);
    }
    if (count == 0) return fmt::format("'{}.counts' has an empty bucket, {}", name, bucket);
    if (count > kMostRequests - all) return fmt::format("'{}.counts' are more than {}", name, kMostRequests);
    all += count;
    least = bucket + 1;
  }
  return std::nullopt;
}

std::optional<std::string> wrong_in_load_record(const LoadRecord& record) {
  if (record.clients < 1) return fmt::format("'load.clients' is {}, and there is at least 1", record.clients);
  if (record.samples < 1) return fmt::format("'load.samples' is {}, and there is at least 1", record.samples);
  const std::pair<std::string_view, std::uint64_t> counts[] = {
      {"due", record.due},       {"issued", record.issued},   {"completed", record.completed},
      {"failed", record.failed}, {"checked", record.checked}, {"mismatched", record.mismatched}};
  for (const auto& [name, count] : counts) {
    if (count > kMostRequests) return fmt::format("'load.{}' is more than {}", name, kMostRequests);
  }
  if (record.good.value_or(0) > record.completed) return "'load.good' is more than 'load.completed'";
  if (record.kept > record.completed) return "'load.kept' is more than 'load.completed'";
  const std::pair<std::string_view, double> times[] = {{"arrivals_s", record.arrivals_s},
                                                       {"duration_s", record.duration_s},
                                                       {"bin_s", record.bin_s},
                                                       {"largest_difference", record.largest_difference},
                                                       {"max_rate", record.max_rate}};
  for (const auto& [name, value] : times) {
    if (!is_time(value)) return fmt::format("'load.{}' is not a number of at least 0", name);
  }
  const std::pair<std::string_view, const HistogramRecord*> histograms[] = {{"load.response", &record.response},
                                                                            {"load.service", &record.service},
                                                                            {"load.lag", &record.lag},
                                                                            {"load.late", &record.late}};
  for (const auto& [name, histogram] : histograms) {
    if (auto wrong = wrong_in_histogram(name, *histogram)) return wrong;
  }
  if (auto wrong = wrong_in_timeline(record)) return wrong;
  if (auto wrong = wrong_in_steps(record)) return wrong;
  return wrong_in_errors(record);
}

}  // namespace infermeter
