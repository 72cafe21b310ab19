#include "infermeter/trial/timed_loop.hpp"

#include <algorithm>

namespace infermeter {
namespace {

std::uint64_t fastest_ticks(std::span<const TickPair> pairs) {
  std::uint64_t fastest = UINT64_MAX;
  for (const TickPair& pair : pairs) fastest = std::min(fastest, pair.end - pair.begin);
  return fastest;
}

}  // namespace

LoopLimits limits_for(const Stopping& stopping, const SampleBlock& block, const TickScale& scale,
                      std::uint64_t first_inference_ticks) {
  const std::uint64_t room = block.timed().size();
  if (!stopping.duration_s) return {.iterations = room, .expected = room, .budget_ticks = UINT64_MAX};
  const std::uint64_t budget = std::max<std::uint64_t>(scale.ticks_for(*stopping.duration_s), 1);
  if (stopping.iterations) return {.iterations = room, .expected = room, .budget_ticks = budget};
  const std::span<const TickPair> warmup = block.warmup_done();
  const std::uint64_t shortest = warmup.empty() ? first_inference_ticks / 100 : fastest_ticks(warmup) / 4;
  constexpr std::uint64_t least = 1024;
  const std::uint64_t wanted = std::max(budget / std::max<std::uint64_t>(shortest, 1), least);
  return {.iterations = room, .expected = std::min(wanted, room), .budget_ticks = budget};
}

}  // namespace infermeter
