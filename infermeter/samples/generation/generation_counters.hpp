// The figures of answers that came piece by piece, as counters: those of load_figures() that are `of_generation`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "infermeter/samples/generation/generation_record.hpp"
#include "infermeter/samples/samples.hpp"

namespace infermeter {

// Those that can be determined, in their order. A percentile needs as many values as have one beyond it: 10 for p90,
// 100 for p99.
[[nodiscard]] std::vector<Counter> generation_counters(const GenerationRecord& record);

// What is wrong with a record from outside: "'generation.ttft.counts' is not in ascending order". nullopt: nothing.
[[nodiscard]] std::optional<std::string> wrong_in_generation_record(const GenerationRecord& record);

}  // namespace infermeter
