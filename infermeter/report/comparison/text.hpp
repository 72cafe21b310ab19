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

// One line of the table of metrics.
struct ComparisonRow {
  Cell subject, metric, change, interval, p, smallest;
};
[[nodiscard]] std::vector<ComparisonRow> comparison_rows(const RunRecord& record, const ComparisonVerdict& verdict);

}  // namespace infermeter
