// Requests to a server that other tools measured, as they wrote them. Bytes from outside: anything in them may be cut,
// foreign or hostile. Pure.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "infermeter/diagnostics/result.hpp"

namespace infermeter {

// Nanoseconds of one clock.
struct TimedRequest {
  std::int64_t begin_ns = 0, end_ns = 0;
  bool failed = false;
  std::vector<std::int64_t> moments_ns{};  // of the pieces of its answer, ascending; empty: not reported
  std::optional<std::uint64_t> output_tokens{}, prompt_tokens{};
};

// What was measured under one name: one process.
struct RequestSeries {
  std::string name;  // text from outside; empty: it has none
  std::vector<TimedRequest> requests;
};

// perf_analyzer's --profile-export-file: a series for each experiment. Errors: times that are none.
[[nodiscard]] Result<std::vector<RequestSeries>> requests_of_perf_analyzer(const nlohmann::json& json);

// AIPerf's profile_export.jsonl: a request a line, those of the warm-up left out. Errors name the line.
[[nodiscard]] Result<std::vector<RequestSeries>> requests_of_aiperf(std::string_view bytes);

// By begin, those that failed as well. Of most of them at once.
void sort_by_begin(std::vector<TimedRequest>& requests);
[[nodiscard]] int most_in_flight(const std::vector<TimedRequest>& sorted);

}  // namespace infermeter
