// The figures of a trial under load, as counters: from there on they are stored, summarised over processes, compared,
// gated and shown as every other counter.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "infermeter/samples/load/load_record.hpp"
#include "infermeter/samples/samples.hpp"

namespace infermeter {

struct LoadFigure {
  std::string_view name, unit;  // "s", "1/s", "1" (a number), "share" (0 … 1)
  bool lower_is_better = true;
  double percentile = 0;       // of what is one time of each request, in (0, 1); 0: it is none
  bool of_generation = false;  // of answers that came piece by piece, with or without a load
};

// In the order of reports:
//   max_rate                           requests per second: the highest that met the objective (--find-rate)
//   offered_rate, achieved_rate        requests per second: due / arrivals_s, completed / duration_s
//   samples_rate                       inferences per second; of requests with more than one
//   response_mean, _p50, _p90, _p95, _p99, _p99_9, _max; service_p50, _p99; lag_p50, _p99; late_p99     seconds
//   in_flight_mean, _max               requests that had arrived and not ended: those that succeeded, on average; the
//                                      most at the end of a bin of the timeline
//   failed, failed_share               requests; of those that ended
//   goodput, goodput_share             requests per second that kept all bounds (--goodput); of those that were due
// Of generation (samples/generation/):
//   ttft_p50, _p90, _p99; itl_p50, _p99; tpot_p50, _p90, _p99     seconds
//   output_tokens_rate                 tokens per second, of all requests together
//   output_tokens_mean, prompt_tokens_mean                        tokens of a request
[[nodiscard]] std::span<const LoadFigure> load_figures();
[[nodiscard]] const LoadFigure* load_figure(std::string_view name);

// Those of `record` that can be determined, in that order. Percentiles are of all requests that succeeded, type 1,
// within 0.05 %.
[[nodiscard]] std::vector<Counter> load_counters(const LoadRecord& record);

// Inferences that succeeded per second, from the beginning to the last completion. nullopt: none did.
[[nodiscard]] std::optional<double> inferences_per_s(const LoadRecord& record);

}  // namespace infermeter
