// Row: what the console table and the Markdown table say about one subject, as short texts.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "infermeter/report/forms/sentence.hpp"
#include "infermeter/text/counts.hpp"
#include "infermeter/verdict/judge.hpp"

namespace infermeter {

struct Row {
  Cell label, latency, speed_up, throughput, memory, size, outputs, p99, accuracy, latencies;
};

// Subjects that are compared with each other, in the plan's order; the first is the baseline.
struct Group {
  std::string title;  // "resnet50, batch size 1, float32": what they have in common
  std::vector<const SubjectVerdict*> subjects;
};

[[nodiscard]] std::vector<Group> groups_of(const RunRecord& record, const Verdict& verdict);
[[nodiscard]] Row row_of(const RunRecord& record, const Group& group, const SubjectVerdict& subject);

// Some iterations, but too few for a median: instead of it the mean is shown, and called so.
[[nodiscard]] bool has_too_few(const SubjectVerdict& verdict);
[[nodiscard]] Cell mean_cell(const SubjectVerdict& verdict);
// The largest difference over all outputs: "max 2.1e-05".
[[nodiscard]] std::string difference_words(const OutputComparison& comparison);

}  // namespace infermeter
