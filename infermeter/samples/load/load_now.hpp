// LoadNow: what a load does at the moment, for whoever watches it.
#pragma once

#include <cstdint>
#include <optional>

namespace infermeter {

struct LoadNow {
  std::optional<double> rate{};  // requests that succeeded per second, recently
  std::uint64_t in_flight = 0;   // issued and not ended
  std::uint64_t failed = 0;      // since the load began
  // Of the response times of recent requests; nullopt: too few of them.
  std::optional<double> response_p50_s{}, response_p99_s{};
};

}  // namespace infermeter
