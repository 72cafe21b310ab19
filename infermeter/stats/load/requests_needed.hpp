// How many requests it takes to promise a percentile.
#pragma once

#include <cstdint>

namespace infermeter {

// The least number of requests such that, with `over` of them above a bound, it is certain to `confidence` that the
// percentile (0 … 1) of all requests lies at or below the bound: P(X <= over) <= 1 - confidence, X binomial of that
// many draws with 1 - percentile. It is the rule by which MLPerf LoadGen stops early (mlcommons/inference,
// loadgen/early_stopping.cc; "MLPerf Inference Rules", appendix Early Stopping): with one above the bound and 99 %
// 64 for p90, 130 for p95, 219 for p97, 662 for p99, 6636 for p99.9. For independent requests, which those that wait in
// one queue are not: a necessary number, then, and not a sufficient one.
[[nodiscard]] std::int64_t requests_needed(double percentile, std::int64_t over = 1, double confidence = 0.99);

}  // namespace infermeter
