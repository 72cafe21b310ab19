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

[[nodiscard]] const Ratio* ratio_of(const SubjectVerdict& verdict, std::string_view metric);
// What the subject's memory is: the device's, where its framework accounts for one of its own, as the host's says
// little about a model that is not there; else the worker's resident memory.
[[nodiscard]] bool is_on_device(const SubjectVerdict& verdict);
// Some iterations, but too few for a median: instead of it the mean is shown, and called so.
[[nodiscard]] bool has_too_few(const SubjectVerdict& verdict);
[[nodiscard]] Cell mean_cell(const SubjectVerdict& verdict);
// nullptr where the record does not say.
[[nodiscard]] const ModelFacts* model_of(const RunRecord& record, int subject);
// The first trial of the subject that did not end well; nullptr if all did.
[[nodiscard]] const Samples* failed_trial(const RunRecord& record, int subject);
// "crashed, signal 9", "timeout in load".
[[nodiscard]] std::string end_of(const Samples& trial);
// The largest difference over all outputs: "max 2.1e-05".
[[nodiscard]] std::string difference_words(const OutputComparison& comparison);

}  // namespace infermeter
