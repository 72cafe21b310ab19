#include "infermeter/worker/wall/load_watch.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace infermeter {
namespace {

constexpr double recent_s = 10;
constexpr std::size_t most_recent = 4096;  // what sorts in a fraction of a millisecond

std::vector<double> recent_responses(double now_s, std::span<const TickPair> done, const TickScale& scale) {
  std::vector<double> responses_s;
  for (std::size_t i = done.size(); i > 0 && responses_s.size() < most_recent; --i) {
    const TickPair& pair = done[i - 1];
    if (pair.end <= pair.begin) continue;  // its client is about to write it
    if (scale.seconds(pair.end) < now_s - recent_s) break;
    responses_s.push_back(static_cast<double>(pair.end - pair.begin) * scale.tick_s);
  }
  std::ranges::sort(responses_s);
  return responses_s;
}

// With fewer values than have one beyond it there is no percentile.
std::optional<double> percentile(const std::vector<double>& sorted, double share) {
  const auto count = static_cast<double>(sorted.size());
  if (count * (1 - share) < 1 - 1e-9) return std::nullopt;
  return sorted[static_cast<std::size_t>(std::ceil(count * share - 1e-9)) - 1];
}

std::uint64_t difference(std::uint64_t from, std::uint64_t to) { return to > from ? to - from : 0; }

}  // namespace

LoadNow LoadWatch::look(double now_s, const RequestCounts& counts, std::span<const TickPair> done,
                        const TickScale& scale) {
  LoadNow now{.in_flight = difference(counts.completed + counts.failed, counts.issued), .failed = counts.failed};
  while (points_.size() > 1 && points_.front().at_s < now_s - recent_s) points_.pop_front();
  if (!points_.empty() && now_s > points_.front().at_s) {
    now.rate =
        static_cast<double>(difference(points_.front().completed, counts.completed)) / (now_s - points_.front().at_s);
  }
  points_.push_back({now_s, counts.completed});
  const std::vector<double> responses_s = recent_responses(now_s, done, scale);
  now.response_p50_s = percentile(responses_s, 0.5);
  now.response_p99_s = percentile(responses_s, 0.99);
  return now;
}

std::optional<LoadNow> LoadWatch::look(const SampleBlock& block, const ClockPair& now) {
  const LiveCounts& live = block.header().load;
  RequestCounts counts;
  // In this order: what ends meanwhile was issued.
  counts.completed = live.completed.load(std::memory_order_relaxed);
  counts.failed = live.failed.load(std::memory_order_relaxed);
  counts.issued = live.issued.load(std::memory_order_relaxed);
  if (counts.issued == 0) return std::nullopt;
  const TickScale scale = scale_between(block.clock(), block.start(), now);
  return look(scale.seconds(now.ticks), counts, block.timed_done(), scale);
}

}  // namespace infermeter
