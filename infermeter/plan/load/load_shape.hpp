// LoadShape: how requests come to a subject that is measured under load, from the pairs of Subject::load.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/plan/load/arrivals.hpp"
#include "infermeter/plan/load/goodput.hpp"
#include "infermeter/plan/plan.hpp"

namespace infermeter {

// single_stream, multi_stream, server, offline: as MLPerf Inference calls them (Reddi et al. 2020, "MLPerf Inference
// Benchmark", table 1). closed: so many clients, each of which waits for its answer. open: requests arrive by a
// schedule, whether or not earlier ones have ended.
enum class LoadScenario { single_stream, multi_stream, server, offline, closed, open };
[[nodiscard]] std::string_view to_string(LoadScenario scenario);  // "single-stream"

// How the generator waits for an arrival after its sleep, which ends some 50 us late on a free processor. automatic: it
// gets up earlier and spins while no request is in flight, when that takes nothing from the subject.
enum class Spin { automatic, on, off };

// "response_p99 <= 50ms": the highest rate is sought at which this holds.
struct LoadObjective {
  double percentile = 0.99;  // of the response time, in (0, 1)
  double bound_s = 0;
};

struct LoadShape {
  LoadScenario scenario = LoadScenario::closed;
  // Most requests in flight (multi_stream, offline: inferences). 0: as many as the subject is loaded for.
  int concurrency = 0;
  double rate = 0;                           // requests per second; 0 where the arrivals say it, and in a closed loop
  Arrivals arrivals{};                       // open loop only
  std::int64_t samples = 1;                  // inferences to a request: multi_stream
  std::optional<LoadObjective> find_rate{};  // open: the rate is not said but sought
  std::optional<GoodputBounds> goodput{};    // requests that keep it are counted
  Spin spin = Spin::automatic;               // open loop only

  [[nodiscard]] bool is_open() const { return scenario == LoadScenario::open || scenario == LoadScenario::server; }
  [[nodiscard]] bool is_of_mlperf() const { return scenario != LoadScenario::closed && scenario != LoadScenario::open; }
};

inline constexpr int kMostInFlight = 1024;              // a thread each
inline constexpr std::int64_t kMultiStreamSamples = 8;  // MLPerf's, unless `samples` says otherwise

// Keys: scenario, rate, concurrency, arrivals, samples, find_rate, goodput, spin. Without a scenario a rate or arrivals
// make an open loop, a concurrency a closed one. Errors: a key or a value that is none, one that does not fit the
// scenario, a server without a rate.
[[nodiscard]] Result<LoadShape> load_shape_from_pairs(const Pairs& load);

}  // namespace infermeter
