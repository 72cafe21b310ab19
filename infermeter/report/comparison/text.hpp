// A comparison in words: what was found, how sure it is, what it took.
#pragma once

#include <string>
#include <vector>

#include "infermeter/report/forms/sentence.hpp"
#include "infermeter/verdict/comparison.hpp"
#include "infermeter/verdict/verdict.hpp"

namespace infermeter {

// One of comparison_answers(record, verdict) in words, without what is said besides.
[[nodiscard]] std::string comparison_sentence(const RunRecord& record, const Verdict& verdict, const Answer& answer);

// "16 pairs, candidate against onnxruntime"
[[nodiscard]] std::string comparison_title(const RunRecord& record, const ComparisonVerdict& verdict);
// What stands below it.
[[nodiscard]] std::string comparison_legend(const ComparisonVerdict& verdict);

// One line of the table of metrics.
struct ComparisonRow {
  Cell subject, metric, change, interval, p, smallest;
};
[[nodiscard]] std::vector<ComparisonRow> comparison_rows(const RunRecord& record, const ComparisonVerdict& verdict);

}  // namespace infermeter
