#include "infermeter/trial/loop_records.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace infermeter {
namespace {

bool was_capped(const SampleBlock& block, const LoopLimits& limits, const Stopping& stopping) {
  const std::span<const TickPair> pairs = block.timed_done();
  if (pairs.size() < limits.iterations) return false;
  if (!stopping.duration_s) return static_cast<std::int64_t>(pairs.size()) < stopping.iterations.value_or(0);
  if (stopping.iterations && static_cast<std::int64_t>(pairs.size()) == *stopping.iterations) return false;
  std::uint64_t spent = 0;
  for (const TickPair& pair : pairs) spent += pair.end - pair.begin;
  return spent < limits.budget_ticks;
}

}  // namespace

void LoopRecords::begin_warmup(const MemoryProbe& memory) { was_reset_ = memory.reset_peak(); }

void LoopRecords::begin(const SampleBlock& block, const LoopLimits& limits, const MemoryProbe& memory) {
  warmup_peak_ = memory.peak();
  own_bytes_ = block.touch(limits.expected);
  was_reset_ = memory.reset_peak();
  before_ = noise_.before();
  energy_before_ = energy_.read();
}

void LoopRecords::end(const SampleBlock& block, const LoopLimits& limits, const Stopping& stopping, LoopEnd end,
                      int threads_asked, const MemoryProbe& memory, Samples& samples) {
  const EnergyReading energy_after = energy_.read();
  const NoiseReading after = noise_.after();
  samples.energy = energy_.between(energy_before_, energy_after);
  samples.noise = noise_between(before_, after, start_);
  // The pages of the sample block are ours, not the subject's.
  own_bytes_ = std::max(own_bytes_, SampleBlock::bytes_of(block.timed_done().size()));
  const auto without_own = [&](std::optional<std::uint64_t> bytes) {
    if (bytes && *bytes > own_bytes_) *bytes -= own_bytes_;
    return bytes;
  };
  samples.memory.rss_peak_inference = std::max(without_own(memory.peak()), warmup_peak_);
  samples.memory.pss_after_inference = without_own(memory.proportional());
  samples.memory.peak_reset = was_reset_;
  auto& found = samples.diagnostics;
  if (!was_reset_) found.push_back({DiagnosticId::no_memory_reset, "/proc/self/clear_refs cannot be written", {}});
  const double counted_s = after.at_s - counted_from(before_, after, start_).at_s;
  for (Diagnostic& diagnostic : diagnose_noise(samples.noise, after.at_s - before_.at_s, threads_asked, counted_s))
    found.push_back(std::move(diagnostic));
  if (end == LoopEnd::complete && was_capped(block, limits, stopping))
    found.push_back(
        {DiagnosticId::iterations_capped,
         fmt::format("the loop ended after {} iterations: one trial has room for no more", block.timed_done().size()),
         {}});
}

}  // namespace infermeter
