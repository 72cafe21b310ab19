#include "infermeter/run/stacks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "infermeter/profile/stacks/join_stacks.hpp"
#include "infermeter/run/profile.hpp"
#include "infermeter/text/counts.hpp"

namespace infermeter {
namespace {

// Frames and threads that only samples between iterations had.
void drop_unused(StackProfile& stacks) {
  std::vector<std::uint32_t> frames(stacks.frames.size(), ~0U), threads(stacks.threads.size(), ~0U);
  StackProfile kept{
      .frames = {}, .threads = {}, .samples = std::move(stacks.samples), .unit = stacks.unit, .cut = stacks.cut};
  const auto keep = [](auto& from, auto& to, std::vector<std::uint32_t>& places, std::uint32_t& index) {
    if (places[index] == ~0U) {
      places[index] = static_cast<std::uint32_t>(to.size());
      to.push_back(std::move(from[index]));
    }
    index = places[index];
  };
  for (StackSample& sample : kept.samples) {
    keep(stacks.threads, kept.threads, threads, sample.thread);
    for (std::uint32_t& frame : sample.frames) keep(stacks.frames, kept.frames, frames, frame);
  }
  stacks = std::move(kept);
}

std::string detail_of(const RawStacks& raw, const JoinedStacks& joined, const OperatorProfile* profile) {
  std::string text = fmt::format("{}; {} samples", raw.detail, with_commas(joined.samples));
  if (profile != nullptr && profile->has_events() && joined.refused.empty() && joined.samples > 0) {
    text += fmt::format(", {:.1f} % within an operator",
                        100 * static_cast<double>(joined.with_operator) / static_cast<double>(joined.samples));
  }
  if (raw.lost > 0)
    text += fmt::format("; {} more were lost, as they came faster than they were read", with_commas(raw.lost));
  if (!raw.reason.empty()) text += fmt::format("; {}", raw.reason);
  return text;
}

// Only what lies in the trial's iterations is named: those before and after are as many again.
void keep_timed(RawStacks& raw, const Samples& trial) {
  if (trial.begin_s.empty()) return raw.samples.clear();
  const auto ns = [&](double t_s) { return raw.origin_ns + static_cast<std::int64_t>(t_s * 1e9); };
  const std::int64_t begin = ns(trial.begin_s.front()), end = ns(trial.end_s.back());
  std::erase_if(raw.samples,
                [&](const RawSample& sample) { return sample.monotonic_ns < begin || sample.monotonic_ns > end; });
}

}  // namespace

void StackReader::operator()(TrialResult& result, const OperatorProfile* profile) {
  if (!result.raw_stacks) return;
  RawStacks raw = *std::exchange(result.raw_stacks, std::nullopt);
  Samples& trial = result.samples;
  if (trial.iterations() == 0 || has_diagnostic(trial, DiagnosticId::no_stack_profile)) return;
  keep_timed(raw, trial);
  TrialStacks found{
      .position = 0, .method = raw.method, .detail = {}, .is_python = false, .stacks = name_stacks(raw, modules_)};
  const JoinedStacks joined = join_stacks(found.stacks, trial, profile);
  drop_unused(found.stacks);
  found.detail = detail_of(raw, joined, profile);
  if (!raw.reason.empty()) {
    add_diagnostic(trial, DiagnosticId::stacks_by_signal,
                   fmt::format("call stacks are of one frame each, sampled from within: {}", raw.reason));
  }
  if (!joined.refused.empty()) {
    add_diagnostic(trial, DiagnosticId::stacks_not_joined,
                   fmt::format("it is unknown which operator a stack belongs to: {}", joined.refused));
  }
  result.stacks.push_back(std::move(found));
}

}  // namespace infermeter
