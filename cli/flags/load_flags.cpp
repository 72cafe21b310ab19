#include "cli/flags/load_flags.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "infermeter/plan/load/load_shape.hpp"
#include "infermeter/plan/quantity.hpp"

namespace infermeter {
namespace {

constexpr const char* kLoadGroup = "How requests arrive";

void declare_one(CLI::App& app, const char* flag, std::vector<std::string>& value, const char* type, const char* help) {
  app.add_option(flag, value, help)
      ->type_name(type)
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
      ->group(kLoadGroup);
}

void declare_values(CLI::App& app, const char* flag, std::vector<std::string>& values, const char* type,
                    const char* help) {
  app.add_option(flag, values, help)
      ->type_name(type)
      ->expected(1, CLI::detail::expected_max_vector_size)
      ->delimiter(',')
      ->group(kLoadGroup);
}

// One load for each of the values; without values one without that key.
std::vector<Pairs> multiplied(const std::vector<Pairs>& loads, const char* key,
                              const std::vector<std::string>& values) {
  if (values.empty()) return loads;
  std::vector<Pairs> all;
  for (const Pairs& load : loads) {
    for (const std::string& value : values) {
      all.push_back(load);
      set_pair(all.back(), key, value);
    }
  }
  return all;
}

// All bounds are those of one load.
std::vector<std::string> together(const std::vector<std::string>& bounds) {
  if (bounds.empty()) return {};
  return {fmt::format("{}", fmt::join(bounds, " "))};
}

}  // namespace

void LoadFlags::declare(CLI::App& app) {
  declare_one(app, "--scenario", scenario_, "NAME",
              "single-stream, multi-stream, server (Poisson arrivals at --rate) or offline, as MLPerf calls them. "
              "Default: what --rate or --concurrency say.");
  declare_values(app, "--rate", rates_, "N…",
                 "Open loop: requests per second, whether or not earlier ones have ended; one subject each.");
  declare_values(app, "--concurrency", concurrencies_, "N…",
                 "Closed loop: clients that wait for their answers; with --rate: most requests in flight; one subject "
                 "each.");
  declare_one(app, "--arrivals", arrivals_, "FORM",
              "poisson (default), constant, gamma:CV, burst:N, step:RATE:TIME/RATE:TIME…, ramp:RATE:RATE:TIME, or a "
              "file with a time in seconds per line, or a trace of language models as Azure (CSV) or Mooncake (JSONL) "
              "write them.");
  declare_one(app, "--samples", samples_, "N", "multi-stream: inferences of a request. Default: 8.");
  declare_one(
      app, "--find-rate", find_rate_, "OBJECTIVE",
      "Find the highest rate at which 'response_p99 <= 50ms' holds (or p50, p90, p95, p99_9), in each process.");
  declare_values(app, "--goodput", goodput_, "BOUND…",
                 "Count the requests that keep all of 'ttft<=200ms' 'tpot<=50ms' 'response<=2s' (first token, time per "
                 "token, whole answer).");
  declare_one(
      app, "--spin", spin_, "WHEN",
      "Open loop: on and auto busy-wait for the last 200 µs before an arrival, auto only while no request is in "
      "flight; off sleeps. Default: auto.");
  app.add_flag(
         "--mlperf", mlperf_,
         "Measure as long as MLPerf Inference does: 10 minutes in each process, unless --duration or --requests says "
         "otherwise. For its four scenarios.")
      ->group(kLoadGroup);
  declare_one(app, "--requests", requests_, "N", "End after N requests, instead of --duration (default: 10s).");
}

bool LoadFlags::any() const {
  for (const auto* values :
       {&scenario_, &rates_, &concurrencies_, &arrivals_, &samples_, &requests_, &find_rate_, &goodput_, &spin_})
    if (!values->empty()) return true;
  return mlperf_;
}

Result<Done> LoadFlags::apply(PlanDraft& draft, const PlanFlags& plan) const {
  for (const std::string_view key : {"iterations", "duration"})
    if (!requests_.empty() && plan.gives(key))
      return usage_error(fmt::format("--requests and --{} exclude each other", key));
  if (!requests_.empty() && !find_rate_.empty())
    return usage_error("--find-rate takes as long as --duration says, not a number of --requests");
  if (!requests_.empty()) {
    const auto requests = integer_from_string(requests_.front(), 1, std::int64_t{1} << 40);
    if (!requests) return usage_error(fmt::format("--requests: {}", requests.error().message));
    draft.plan.stopping.iterations = *requests;
    draft.plan.stopping.duration_s.reset();
    draft.plan.automatic.iterations = false;
  }
  std::vector<Pairs> loads{draft.defaults.load};
  loads = multiplied(loads, "scenario", scenario_);
  loads = multiplied(loads, "arrivals", arrivals_);
  loads = multiplied(loads, "samples", samples_);
  loads = multiplied(loads, "find_rate", find_rate_);
  loads = multiplied(loads, "goodput", together(goodput_));
  loads = multiplied(loads, "spin", spin_);
  loads = multiplied(loads, "concurrency", concurrencies_);
  loads = multiplied(loads, "rate", rates_);
  for (const Pairs& load : loads) {
    // The sentence of a subject would not say which flag it was.
    const auto shape = load_shape_from_pairs(load);
    if (!load.empty() && !shape) return shape.error();
    if (mlperf_ && (load.empty() || !shape->is_of_mlperf()))
      return usage_error(
          "--mlperf is for the scenarios of MLPerf: give --scenario single-stream, multi-stream, server or offline");
  }
  // Its rules ask for so long: min_duration of mlperf.conf.
  constexpr double mlperf_s = 600;
  if (mlperf_ && draft.plan.automatic.iterations) {
    draft.plan.stopping.duration_s = mlperf_s;
    draft.plan.stopping.iterations.reset();
    draft.plan.automatic.iterations = false;
  }
  if (loads.size() > 1 || !loads.front().empty()) draft.loads = std::move(loads);
  return Done{};
}

}  // namespace infermeter
