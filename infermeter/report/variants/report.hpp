// The report of variants: what each weighs, how fast and how right it is, which are on the Pareto front, and what can
// be recommended. Pure, like those of a run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "infermeter/report/report.hpp"

namespace infermeter {

// One row of the report.
struct VariantEntry {
  std::string label;
  std::string kind;                            // "int8-static"
  std::string refusal;                         // why it was not measured; empty: it was
  std::vector<std::optional<int>> subjects{};  // of the run, by batch size
};

struct VariantSet {
  std::string model;
  std::vector<std::int64_t> batch_sizes{};
  std::vector<VariantEntry> entries{};  // the first one is the baseline
  std::vector<std::string> notes{};     // sentences: what was left out and why
};

// Format::csv is the run's own. `record` is the run of `set`'s subjects.
[[nodiscard]] std::string render_variants(const RunRecord& record, const Verdict& verdict, const VariantSet& set,
                                          Format format, const RenderOptions& options);

// 0 where the baseline was measured at every batch size; else what the run deserves. Variants that failed are in the
// report.
[[nodiscard]] int exit_code_of_variants(const Verdict& verdict, const VariantSet& set);

}  // namespace infermeter
