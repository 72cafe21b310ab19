// CSV: a row per subject; first the columns that older tools know, then our own, then what the subjects counted
// (docs/files.md).
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "infermeter/report/forms/renderers.hpp"
#include "infermeter/report/run/counter_table.hpp"
#include "infermeter/report/run/row.hpp"
#include "infermeter/report/run/subject_label.hpp"
#include "infermeter/text/ascii.hpp"
#include "infermeter/text/quoted.hpp"
#include "infermeter/text/utc_time.hpp"
#include "infermeter/verdict/judge.hpp"

namespace infermeter {
namespace {

// Empty: not known. On one line and without what would steer a terminal; a text that a spreadsheet would take for a
// formula gets an apostrophe in front. Quoted as RFC 4180 has it.
std::string text_cell(std::string_view text) {
  std::string cell = printable(text, std::numeric_limits<std::size_t>::max());
  if (!text.empty() && std::string_view("=+-@\t\r").find(text.front()) != std::string_view::npos) cell.insert(0, "'");
  if (cell.find_first_of(",\"") == std::string::npos) return cell;
  std::string quoted = "\"";
  for (const char c : cell) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

// Twelve digits: more than a clock has, and short enough that scaling leaves no "38.199999999999996".
std::string number_cell(std::optional<double> value) {
  if (!value || !std::isfinite(*value)) return {};
  char buffer[32];
  const auto result = std::to_chars(buffer, buffer + sizeof buffer, *value, std::chars_format::general, 12);
  return {buffer, result.ptr};
}

template <std::integral T>
std::string number_cell(T value) {
  return fmt::format("{}", value);
}

// What one row is made from.
struct Source {
  const RunRecord& record;
  const SubjectVerdict& verdict;
  const Subject& subject;
  const Samples* trial;  // the subject's first that reported what was executed, else its first; nullptr: none ran
  const ModelFacts* model;
  const TuningVerdict* tuning = nullptr;  // of a race

  [[nodiscard]] const Estimate* estimate(std::string_view name) const {
    const Metric* metric = verdict.summary.metric(name);
    return metric == nullptr ? nullptr : &metric->estimate;
  }
  [[nodiscard]] std::string metric(std::string_view name, double scale = 1) const {
    const Estimate* found = estimate(name);
    return found == nullptr || !found->value ? "" : number_cell(*found->value * scale);
  }
  [[nodiscard]] std::string bound(std::string_view name, double Interval::* side, double scale = 1) const {
    const Estimate* found = estimate(name);
    return found == nullptr || !found->interval ? "" : number_cell(*found->interval.*side * scale);
  }
  [[nodiscard]] std::string speed_up(double Interval::* side) const {
    const Ratio* ratio = ratio_of(verdict, "latency_p50");
    if (ratio == nullptr || !ratio->estimate.interval) return {};
    return number_cell(*ratio->estimate.interval.*side);
  }
  [[nodiscard]] std::string executed(std::string_view key) const {
    return trial == nullptr ? "" : text_cell(trial->executed_value(key));
  }
  // Of the output that is furthest from its reference.
  [[nodiscard]] std::string output(std::optional<double> OutputDifference::* figure) const {
    const OutputDifference* worst = worst_output();
    if (worst == nullptr) return {};
    const std::optional<double> value = worst->*figure;
    return value && std::isinf(*value) ? "inf" : number_cell(value);  // PSNR of equal outputs
  }
  [[nodiscard]] const Accuracy* accuracy() const {
    return verdict.accuracy ? &verdict.accuracy->measured->accuracy : nullptr;
  }
  [[nodiscard]] std::string accuracy_bound(double Interval::* side) const {
    if (!verdict.accuracy || !verdict.accuracy->interval) return {};
    return number_cell(*verdict.accuracy->interval.*side);
  }
  [[nodiscard]] std::string accuracy_change(double Interval::* side) const {
    if (!verdict.accuracy || !verdict.accuracy->change) return {};
    return number_cell(verdict.accuracy->change->interval.*side);
  }
  [[nodiscard]] const OutputDifference* worst_output() const {
    if (verdict.outputs == nullptr) return nullptr;
    const auto& outputs = verdict.outputs->comparison.outputs;
    // One whose error is no number is worst.
    const auto found = std::ranges::max_element(outputs, {}, [](const OutputDifference& output) {
      const bool is_number = output.comparable && output.non_finite_apart == 0;
      return is_number ? output.max_absolute.value_or(0) : std::numeric_limits<double>::infinity();
    });
    return found == outputs.end() ? nullptr : &*found;
  }
};

constexpr double ms = 1e3;   // of a second
constexpr double mb = 1e-6;  // of a byte

std::string device_type(const Source& source) {
  const std::string device = source.trial == nullptr ? "" : source.trial->executed_value("device");
  const std::string& known = device.empty() && source.subject.device != "auto" ? source.subject.device : device;
  return text_cell(lowered(known.substr(0, known.find_first_of(":. "))));
}

std::string device(const Source& source) {
  const std::string executed = source.executed("device");
  return executed.empty() ? text_cell(source.subject.device) : executed;
}

std::string outputs_word(const Source& source) {
  if (source.verdict.outputs != nullptr) {
    const OutputComparison& comparison = source.verdict.outputs->comparison;
    return comparison.agree ? "agree" : comparison.undecided ? "undecided" : "differ";
  }
  const bool is_reference = std::ranges::any_of(source.record.outputs, [&](const SubjectOutputs& outputs) {
    return outputs.reference == source.verdict.subject;
  });
  return is_reference ? "reference" : "";
}

std::string memory_after_load(const Source& source) {
  if (source.trial == nullptr || !source.trial->memory.rss_after_load) return {};
  return number_cell(static_cast<double>(*source.trial->memory.rss_after_load) * mb);
}

std::string memory_kind(const Source& source) {
  if (is_on_device(source.verdict)) return "device";
  const Estimate* found = source.estimate("memory_peak");
  return found != nullptr && found->value ? "resident" : "";
}

std::string model_size(const Source& source) {
  if (source.model == nullptr || source.model->size_bytes == 0) return {};
  return number_cell(static_cast<double>(source.model->size_bytes) * mb);
}

std::string speed_up_value(const Source& source) {
  const Ratio* ratio = ratio_of(source.verdict, "latency_p50");
  return ratio == nullptr ? "" : number_cell(ratio->estimate.value);
}

std::string end_word(const Source& source) {
  const Samples* failed = failed_trial(source.record, source.verdict.subject);
  if (failed != nullptr) return std::string(to_string(failed->end));
  return source.trial == nullptr ? "" : "ok";
}

std::string message(const Source& source) {
  const Samples* failed = failed_trial(source.record, source.verdict.subject);
  return failed == nullptr ? "" : text_cell(failed->message);
}

std::string iterations(const Source& source) {
  const Estimate* estimate = source.estimate("latency_p50");
  return estimate == nullptr || estimate->n == 0 ? "" : number_cell(estimate->n);
}

std::string accuracy_top5(const Source& source) {
  const Accuracy* accuracy = source.accuracy();
  return accuracy && accuracy->labels ? number_cell(accuracy->labels->top5_share()) : "";
}

std::string accuracy_difference(const Source& source) {
  const auto& accuracy = source.verdict.accuracy;
  return accuracy && accuracy->change ? number_cell(accuracy->change->difference) : "";
}

std::string of_masks(const Source& source, std::optional<double> (MaskAccuracy::*figure)() const) {
  const Accuracy* accuracy = source.accuracy();
  return accuracy && accuracy->masks ? number_cell(((*accuracy->masks).*figure)()) : "";
}

struct CsvColumn {
  const char* name;
  std::string (*cell)(const Source&);
};

constexpr CsvColumn columns[] = {
    {"framework", [](const Source& s) { return text_cell(s.subject.backend); }},
    {"model", [](const Source& s) { return text_cell(s.subject.model); }},
    {"device", device},
    {"device_type", device_type},
    {"batch_size", [](const Source& s) { return number_cell(s.subject.batch_size); }},
    {"input_shape", [](const Source& s) { return s.executed("input_shape"); }},
    {"dtype", [](const Source& s) { return std::string(to_string(s.subject.dtype)); }},
    {"latency_p50_ms", [](const Source& s) { return s.metric("latency_p50", ms); }},
    {"latency_p95_ms", [](const Source& s) { return s.metric("latency_p95", ms); }},
    {"latency_p99_ms", [](const Source& s) { return s.metric("latency_p99", ms); }},
    {"latency_mean_ms", [](const Source& s) { return s.metric("latency_mean", ms); }},
    {"latency_std_ms", [](const Source& s) { return s.metric("latency_std", ms); }},
    {"latency_min_ms", [](const Source& s) { return s.metric("latency_min", ms); }},
    {"latency_max_ms", [](const Source& s) { return s.metric("latency_max", ms); }},
    {"throughput_ips", [](const Source& s) { return s.metric("throughput"); }},
    {"memory_mb",
     [](const Source& s) { return s.metric(is_on_device(s.verdict) ? "device_memory_peak" : "memory_peak", mb); }},
    {"compilation_time_ms", [](const Source& s) { return s.metric("compile_time", ms); }},
    {"timestamp", [](const Source& s) { return utc_time(s.record.created_at); }},
    {"git_commit", [](const Source& s) { return text_cell(s.record.environment.git_commit); }},
    // Our own.
    {"run", [](const Source& s) { return text_cell(s.record.id); }},
    {"label", [](const Source& s) { return text_cell(s.subject.label); }},
    {"backend", [](const Source& s) { return text_cell(s.subject.backend); }},
    {"runtime", [](const Source& s) { return s.executed("runtime"); }},
    {"runtime_version", [](const Source& s) { return s.executed("runtime_version"); }},
    {"threads", [](const Source& s) { return s.executed("threads"); }},
    {"executed_dtype", [](const Source& s) { return s.executed("dtype"); }},
    {"processes", [](const Source& s) { return number_cell(s.verdict.summary.trials_ok); }},
    {"iterations", iterations},
    {"latency_p50_low_ms", [](const Source& s) { return s.bound("latency_p50", &Interval::low, ms); }},
    {"latency_p50_high_ms", [](const Source& s) { return s.bound("latency_p50", &Interval::high, ms); }},
    {"latency_p90_ms", [](const Source& s) { return s.metric("latency_p90", ms); }},
    {"load_time_ms", [](const Source& s) { return s.metric("load_time", ms); }},
    {"first_inference_ms", [](const Source& s) { return s.metric("first_inference_time", ms); }},
    {"memory_load_mb", memory_after_load},
    {"memory_kind", memory_kind},
    {"memory_resident_mb", [](const Source& s) { return s.metric("memory_peak", mb); }},
    {"memory_device_mb", [](const Source& s) { return s.metric("device_memory_peak", mb); }},
    {"model_size_mb", model_size},
    {"parameters",
     [](const Source& s) { return s.model && s.model->parameters ? number_cell(*s.model->parameters) : ""; }},
    {"speedup", speed_up_value},
    {"speedup_low", [](const Source& s) { return s.speed_up(&Interval::low); }},
    {"speedup_high", [](const Source& s) { return s.speed_up(&Interval::high); }},
    {"outputs", outputs_word},
    {"outputs_max_abs",
     [](const Source& s) { return s.worst_output() ? number_cell(s.worst_output()->max_absolute) : ""; }},
    {"outputs_relative_l2",
     [](const Source& s) { return s.worst_output() ? number_cell(s.worst_output()->relative_l2) : ""; }},
    {"outputs_mae", [](const Source& s) { return s.output(&OutputDifference::mae); }},
    {"outputs_rmse", [](const Source& s) { return s.output(&OutputDifference::rmse); }},
    {"outputs_cosine", [](const Source& s) { return s.output(&OutputDifference::cosine); }},
    {"outputs_psnr_db", [](const Source& s) { return s.output(&OutputDifference::psnr_db); }},
    {"outputs_ssim", [](const Source& s) { return s.output(&OutputDifference::ssim); }},
    {"accuracy", [](const Source& s) { return s.verdict.accuracy ? number_cell(s.verdict.accuracy->share) : ""; }},
    {"accuracy_low", [](const Source& s) { return s.accuracy_bound(&Interval::low); }},
    {"accuracy_high", [](const Source& s) { return s.accuracy_bound(&Interval::high); }},
    {"accuracy_top5", accuracy_top5},
    {"accuracy_change", accuracy_difference},
    {"accuracy_change_low", [](const Source& s) { return s.accuracy_change(&Interval::low); }},
    {"accuracy_change_high", [](const Source& s) { return s.accuracy_change(&Interval::high); }},
    {"mean_iou", [](const Source& s) { return of_masks(s, &MaskAccuracy::mean_iou); }},
    {"mean_dice", [](const Source& s) { return of_masks(s, &MaskAccuracy::mean_dice); }},
    {"trials_failed",
     [](const Source& s) { return number_cell(s.verdict.summary.trials_failed + s.verdict.summary.trials_partial); }},
    {"end", end_word},
    {"message", message},
    {"model_sha256", [](const Source& s) { return s.model ? text_cell(s.model->sha256) : ""; }},
    {"machine", [](const Source& s) { return text_cell(machine_fingerprint(s.record.environment)); }},
    {"infermeter_version", [](const Source& s) { return text_cell(s.record.environment.infermeter_version); }},
    {"seed", [](const Source& s) { return number_cell(s.record.plan.seed.value_or(0)); }},
};

// Of a race.
const TunedSetting* tuned(const Source& source) {
  if (!source.tuning) return nullptr;
  return &source.tuning->settings.at(static_cast<std::size_t>(source.verdict.subject));
}

constexpr CsvColumn tuning_columns[] = {
    {"standing", [](const Source& s) { return std::string(to_string(tuned(s)->fate)); }},
    {"standing_reason", [](const Source& s) { return text_cell(tuned(s)->reason); }},
    {"race_blocks", [](const Source& s) { return number_cell(tuned(s)->blocks); }},
    {"behind_best_log", [](const Source& s) { return number_cell(tuned(s)->behind); }},
    {"on_front", [](const Source& s) { return std::string(tuned(s)->on_front ? "true" : "false"); }},
};

const Samples* trial_with_executed(const RunRecord& record, int subject) {
  const Samples* first = nullptr;
  for (const auto& trial : record.trials) {
    if (trial.subject != subject) continue;
    if (!trial.executed.empty()) return &trial;
    if (first == nullptr) first = &trial;
  }
  return first;
}

// "counter_hit_rate"; with its unit where another column has the same name.
std::vector<std::string> counter_titles(const std::vector<CounterColumn>& counters) {
  std::vector<std::string> titles;
  for (const auto& counter : counters) {
    const bool is_alone = std::ranges::count(counters, counter.name, &CounterColumn::name) == 1;
    titles.push_back(
        text_cell(is_alone ? "counter_" + counter.name : fmt::format("counter_{}_{}", counter.name, counter.unit)));
  }
  return titles;
}

std::string counter_cell(const Source& source, const CounterColumn& column) {
  const CounterSummary* counter = counter_of(source.verdict, column);
  return counter != nullptr && is_determined(source.verdict, *counter) ? number_cell(counter->estimate.value) : "";
}

std::string line(const Source& source, const std::vector<CounterColumn>& counters) {
  std::string text;
  for (const auto& column : columns) {
    if (&column != columns) text += ',';
    text += column.cell(source);
  }
  for (const auto& counter : counters) text += ',' + counter_cell(source, counter);
  for (const auto& column : tuning_columns) {
    if (source.tuning != nullptr) text += ',' + column.cell(source);
  }
  return text + "\r\n";
}

}  // namespace

std::string render_csv(const RunRecord& record, const Verdict& verdict) {
  std::vector<const SubjectVerdict*> subjects;
  for (const auto& subject : verdict.subjects) subjects.push_back(&subject);
  const std::vector<CounterColumn> counters = counter_columns(subjects);
  std::string text;
  for (const auto& column : columns) text += std::string(&column == columns ? "" : ",") + column.name;
  for (const auto& title : counter_titles(counters)) text += ',' + title;
  for (const auto& column : tuning_columns) {
    if (verdict.tuning) text += std::string(",") + column.name;
  }
  text += "\r\n";
  for (const auto* subject : subjects) {
    text += line({record, *subject, subject_of(record, *subject), trial_with_executed(record, subject->subject),
                  model_of(record, subject->subject), verdict.tuning ? &*verdict.tuning : nullptr},
                 counters);
  }
  return text;
}

}  // namespace infermeter
