#include "infermeter/worker/wall/stalls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace infermeter {
namespace {

constexpr double tolerated_delay_s = 0.25;  // of a look, on a loaded machine
constexpr double least_stall_s = 0.25;
constexpr double used_share = 0.02;  // of a stretch that counts as none: the kernel's steps are 10 ms
constexpr std::size_t most_stalls = 64;
constexpr double outlying_deviations = 10;

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

void PhaseClock::look(double now_s, double due_within_s) {
  const double late_s = now_s - looked_s_ - due_within_s;
  if (late_s > tolerated_delay_s) began_s_ += late_s;
  looked_s_ = now_s;
}

void PhaseClock::exclude(double seconds) {
  began_s_ += seconds;
  looked_s_ += seconds;
}

void StallWatch::look(double at_s, std::optional<double> processor_s) {
  if (last_at_s_ && last_processor_s_ && processor_s) {
    const double passed_s = at_s - *last_at_s_;
    const bool is_still = *processor_s - *last_processor_s_ <= used_share * passed_s;
    if (is_still && is_open_) stalls_.back().end_s = at_s;
    if (is_still && !is_open_ && stalls_.size() < most_stalls) {
      stalls_.push_back({*last_at_s_, at_s});
      is_open_ = true;
    }
    if (!is_still && is_open_ && stalls_.back().end_s - stalls_.back().begin_s < least_stall_s) stalls_.pop_back();
    if (!is_still) is_open_ = false;
  }
  last_at_s_ = at_s;
  last_processor_s_ = processor_s;
}

std::vector<Stall> StallWatch::stalls() const {
  std::vector<Stall> long_ones;
  for (const Stall& stall : stalls_)
    if (stall.end_s - stall.begin_s >= least_stall_s) long_ones.push_back(stall);
  return long_ones;
}

std::vector<Diagnostic> diagnose_stalls(std::span<const Stall> stalls, const Samples& samples) {
  std::vector<Diagnostic> found;
  const std::vector<double> latencies = latencies_s(samples);
  if (stalls.empty() || latencies.size() < 3) return found;
  const double median_s = median_of(latencies);
  std::vector<double> deviations = latencies;
  for (double& latency : deviations) latency = std::abs(latency - median_s);
  const double outlying_s = median_s + outlying_deviations * median_of(deviations);
  for (const Stall& stall : stalls) {
    const double length_s = stall.end_s - stall.begin_s;
    for (std::size_t i = 0; i < latencies.size(); ++i) {
      const double within_s = std::min(stall.end_s, samples.end_s[i]) - std::max(stall.begin_s, samples.begin_s[i]);
      if (within_s < length_s / 2 || latencies[i] <= outlying_s || latencies[i] - median_s < length_s / 2) continue;
      found.push_back({DiagnosticId::stood_still,
                       fmt::format("the worker used no processor time for {:.1f} s within timed iteration {}, which "
                                   "took {:.1f} s: it was stopped, frozen or suspended, or it waited",
                                   length_s, i + 1, latencies[i]),
                       {}});
    }
  }
  return found;
}

}  // namespace infermeter
