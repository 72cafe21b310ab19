// The file form of Samples, which is also its wire form: JSON for everything but the times, which are arrays of
// little-endian doubles beside it.
#pragma once

#include <bit>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/samples/environment.hpp"
#include "infermeter/samples/samples.hpp"

namespace infermeter {

// Everything but begin_s, end_s, warmup_begin_s, warmup_end_s. Missing optionals are null. Canonical.
[[nodiscard]] std::string samples_to_json(const Samples& samples);
// More than these are an error.
inline constexpr std::size_t kMostCounters = 1000, kMostTrialDiagnostics = 1000, kMostExecutedFacts = 1000;
inline constexpr std::size_t kMostOutputs = 65'536;
[[nodiscard]] Result<Samples> samples_from_json(std::string_view text);

// As the record of a trial has it under "load".
[[nodiscard]] std::string load_to_json(const LoadRecord& load);
[[nodiscard]] std::string generation_to_json(const GenerationRecord& generation);

// As they are stored, little-endian; no copy.
static_assert(std::endian::native == std::endian::little);
[[nodiscard]] inline std::span<const std::byte> doubles_to_bytes(std::span<const double> values) {
  return std::as_bytes(values);
}
[[nodiscard]] Result<std::vector<double>> doubles_from_bytes(std::span<const std::byte> bytes);

[[nodiscard]] std::string environment_to_json(const Environment& environment);
[[nodiscard]] Result<Environment> environment_from_json(std::string_view text);
// Members of its JSON in which the nodes of a run differ, but for their names and for what changes by the minute.
[[nodiscard]] std::vector<std::string> what_nodes_differ_in(const Environment& environment);

}  // namespace infermeter
