// The parts of a RunRecord that are kept as JSON text in the store: models, diagnostics, comparisons of outputs.
// What comes back equals what was given; invalid UTF-8 excepted, which is replaced by U+FFFD.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "infermeter/diagnostics/diagnostic.hpp"
#include "infermeter/diagnostics/result.hpp"
#include "infermeter/fidelity/compare_outputs.hpp"
#include "infermeter/samples/model_facts.hpp"
#include "infermeter/verdict/run_record.hpp"

namespace infermeter {

[[nodiscard]] std::string models_to_json(const std::vector<ModelFacts>& models);
[[nodiscard]] Result<std::vector<ModelFacts>> models_from_json(std::string_view text);

[[nodiscard]] std::string diagnostics_to_json(const std::vector<Diagnostic>& diagnostics);
[[nodiscard]] Result<std::vector<Diagnostic>> diagnostics_from_json(std::string_view text);

[[nodiscard]] std::string comparison_to_json(const OutputComparison& comparison);
[[nodiscard]] Result<OutputComparison> comparison_from_json(std::string_view text);

[[nodiscard]] std::string accuracy_to_json(const SubjectAccuracy& accuracy);
[[nodiscard]] Result<SubjectAccuracy> accuracy_from_json(std::string_view text);

[[nodiscard]] std::string noise_to_json(const std::optional<MachineNoise>& noise);
[[nodiscard]] Result<std::optional<MachineNoise>> noise_from_json(std::string_view text);

[[nodiscard]] std::string strings_to_json(const std::vector<std::string>& strings);
[[nodiscard]] Result<std::vector<std::string>> strings_from_json(std::string_view text);

}  // namespace infermeter
