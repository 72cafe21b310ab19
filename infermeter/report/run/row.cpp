#include "infermeter/report/run/row.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "infermeter/plan/imported.hpp"
#include "infermeter/report/numbers/format.hpp"
#include "infermeter/report/numbers/interval_text.hpp"
#include "infermeter/report/numbers/number_text.hpp"
#include "infermeter/report/run/accuracy_text.hpp"
#include "infermeter/report/run/subject_label.hpp"
#include "infermeter/text/quoted.hpp"
#include "infermeter/text/terminal.hpp"
#include "infermeter/verdict/tuning/constraints.hpp"

namespace infermeter {
namespace {

constexpr const char* nothing = "–";

Cell figure_cell(const Metric* metric, FigureText format) {
  if (metric == nullptr) return {nothing, Tone::faint};
  const Estimate& estimate = metric->estimate;
  if (estimate.value) return {format(*estimate.value), Tone::plain};
  // How many are needed is worth a cell ("needs 299"; of what is among the notices); that nothing was measured is
  // reported beside it.
  constexpr std::string_view start = "needs ";
  if (!estimate.note.starts_with(start)) return {nothing, Tone::faint};
  return {printable(estimate.note.substr(0, estimate.note.find(' ', start.size())), 30), Tone::faint};
}

Cell latency_cell(const RunRecord& record, const SubjectVerdict& subject) {
  const Metric* metric = subject.summary.metric("latency_p50");
  const Samples* failed = failed_trial(record, subject.subject);
  if (metric == nullptr || !metric->estimate.value) {
    if (failed != nullptr) return {"✗ " + end_of(*failed), Tone::bad};
    if (has_too_few(subject)) return mean_cell(subject);
    const Cell cell = figure_cell(metric, format_time);
    return cell.text == nothing ? Cell{"not measured", Tone::faint} : cell;
  }
  const std::string text = with_interval(*metric->estimate.value, metric->estimate.interval, format_time);
  return failed == nullptr ? Cell{text, Tone::plain} : Cell{text + " ⚠ partial", Tone::warning};
}

Cell memory_cell(const SubjectVerdict& subject) {
  if (!is_on_device(subject)) return figure_cell(subject.summary.metric("memory_peak"), format_bytes);
  Cell cell = figure_cell(subject.summary.metric("device_memory_peak"), format_bytes);
  cell.text += " (device)";
  return cell;
}

Cell speed_up_cell(const SubjectVerdict& subject) {
  if (!subject.baseline) return {"(baseline)", Tone::faint};
  const Ratio* ratio = ratio_of(subject, "latency_p50");
  if (ratio == nullptr || !ratio->estimate.value) return {nothing, Tone::faint};
  Tone tone = Tone::plain;
  if (ratio->estimate.interval && ratio->estimate.interval->low > 1) tone = Tone::good;
  if (ratio->estimate.interval && ratio->estimate.interval->high < 1) tone = Tone::warning;
  const auto& estimate = ratio->estimate;
  return {"(" + with_interval(*estimate.value, estimate.interval, format_ratio) + ")", tone};
}

bool not_comparable(const OutputComparison& comparison) {
  return std::ranges::any_of(comparison.outputs, [](const OutputDifference& output) { return !output.comparable; });
}

Cell outputs_cell(const RunRecord& record, const SubjectVerdict& subject) {
  if (subject.outputs != nullptr) {
    const auto& comparison = subject.outputs->comparison;
    if (not_comparable(comparison)) return {"✗ not comparable", Tone::bad};
    const std::string difference = difference_words(comparison);
    if (comparison.agree) return {"✓ agree, " + difference, Tone::good};
    if (comparison.undecided) return {"? undecided, " + difference, Tone::warning};
    if (outputs_may_differ(record.plan)) return {"differ, " + difference, Tone::plain};
    return {"✗ DIFFER, " + difference, Tone::bad};
  }
  const bool is_reference = std::ranges::any_of(
      record.outputs, [&](const SubjectOutputs& outputs) { return outputs.reference == subject.subject; });
  return is_reference ? Cell{"reference", Tone::faint} : Cell{"not compared", Tone::faint};
}

template <class Get>
std::optional<std::string> shared_by_all(const RunRecord& record, const Group& group, Get get) {
  const std::string first = get(subject_of(record, *group.subjects.front()));
  const bool same = std::ranges::all_of(
      group.subjects, [&](const SubjectVerdict* subject) { return get(subject_of(record, *subject)) == first; });
  return same ? std::optional(first) : std::nullopt;
}

std::string group_title(const RunRecord& record, const Group& group) {
  std::vector<std::string> parts;
  const auto add = [&](std::optional<std::string> part) {
    if (part && !part->empty()) parts.push_back(*part);
  };
  add(shared_by_all(record, group, [](const Subject& subject) { return printable(subject.model, 60); }));
  if (is_imported(record.plan)) return parts.empty() ? "" : parts.front();  // batch size and dtype are not known
  add(shared_by_all(record, group,
                    [](const Subject& subject) { return fmt::format("batch size {}", subject.batch_size); }));
  add(shared_by_all(record, group, [](const Subject& subject) { return std::string(to_string(subject.dtype)); }));
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

std::vector<Group> groups_of(const RunRecord& record, const Verdict& verdict) {
  std::vector<Group> groups;
  std::vector<int> numbers;
  for (const auto& subject : verdict.subjects) {
    const int number = subject_of(record, subject).group;
    const auto found = std::ranges::find(numbers, number);
    const auto index = static_cast<std::size_t>(found - numbers.begin());
    if (found == numbers.end()) {
      numbers.push_back(number);
      groups.emplace_back();
    }
    groups[index].subjects.push_back(&subject);
  }
  for (auto& group : groups) group.title = group_title(record, group);
  return groups;
}

Row row_of(const RunRecord& record, const Group& group, const SubjectVerdict& subject) {
  const ModelFacts* model = model_of(record, subject.subject);
  const bool alone = group.subjects.size() == 1;
  return {.label = {printable(short_label(record, subject.subject), 200), Tone::plain},
          .latency = latency_cell(record, subject),
          .speed_up = alone ? Cell{nothing, Tone::faint} : speed_up_cell(subject),
          .throughput = figure_cell(subject.summary.metric("throughput"), format_rate),
          .memory = memory_cell(subject),
          .size = model == nullptr || model->size_bytes == 0
                      ? Cell{nothing, Tone::faint}
                      : Cell{format_bytes(static_cast<double>(model->size_bytes)), Tone::plain},
          .outputs = outputs_cell(record, subject),
          .p99 = figure_cell(subject.summary.metric("latency_p99"), format_time),
          .accuracy = accuracy_cell(subject),
          .latencies = {}};
}

bool has_too_few(const SubjectVerdict& verdict) {
  const Metric *median = verdict.summary.metric("latency_p50"), *mean = verdict.summary.metric("latency_mean");
  return median != nullptr && !median->estimate.value && mean != nullptr && mean->estimate.value;
}

Cell mean_cell(const SubjectVerdict& verdict) {
  const Estimate& mean = verdict.summary.metric("latency_mean")->estimate;
  return {"mean " + with_interval(*mean.value, mean.interval, format_time), Tone::faint};
}

std::string difference_words(const OutputComparison& comparison) {
  if (not_comparable(comparison)) return "not comparable";
  const auto largest = largest_difference(comparison);
  if (!largest) return comparison.undecided ? "other bytes" : "not finite";
  return *largest == 0 ? "identical" : fmt::format("max {:.2g}", *largest);
}

}  // namespace infermeter
