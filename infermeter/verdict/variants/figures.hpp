// What the report of variants says of each of them, before it is text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "infermeter/verdict/answers/pareto.hpp"
#include "infermeter/verdict/answers/recommend.hpp"
#include "infermeter/verdict/variants/variant_set.hpp"
#include "infermeter/verdict/verdict.hpp"

namespace infermeter {

struct VariantFigures {
  const VariantEntry* entry = nullptr;
  std::string failure;                          // why it has no figures, or not all; empty: it has them
  const ModelFacts* model = nullptr;            // null: not measured
  std::vector<const SubjectVerdict*> subjects;  // by batch size; null: not measured
  std::vector<bool> failed;                     // by batch size: a trial of it did not end well
  std::optional<std::uint64_t> size_bytes;
  // ||c - r||2 / ||r||2 against the baseline's outputs at the first batch size, of the output in which it is largest;
  // nullopt: it is the baseline, or they cannot be compared.
  std::optional<double> output_error;
  const SubjectAccuracy* accuracy = nullptr;
  ParetoVerdict pareto;
  std::vector<Recommendation> recommendations;  // of all batch sizes
  std::vector<std::string> remarks;             // sentences: what does not follow from the figures alone
};

struct VariantsFigures {
  std::vector<VariantFigures> variants;  // in the set's order
  std::vector<std::string> pareto_of;    // "output error", "latency", …: the figures of the front
};

// Everything points into its arguments.
[[nodiscard]] VariantsFigures figures_of_variants(const RunRecord& record, const Verdict& verdict,
                                                  const VariantSet& set);

// Relative differences below it are float32's rounding: no error.
inline constexpr double rounding_error = 1e-4;

// The largest relative L2 difference of a subject's outputs from the reference's; nullopt: null, or not comparable.
[[nodiscard]] std::optional<double> output_error(const SubjectVerdict* subject);

}  // namespace infermeter
