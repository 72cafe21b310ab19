#include "infermeter/report/run/answers.hpp"
#include "infermeter/report/run/json_parts.hpp"
#include "infermeter/samples/generation/kv_cache_memory.hpp"
#include "infermeter/verdict/judge.hpp"

namespace infermeter {
namespace {

void write_metrics(JsonWriter& json, const std::vector<Metric>& metrics) {
  json.key("metrics");
  json.begin_object();
  for (const auto& metric : metrics) {
    json.key(metric.name);
    json.begin_object();
    json.member("unit", metric.unit);
    json.member("lower_is_better", metric.lower_is_better);
    write_estimate(json, metric.estimate);
    write_interval(json, "within", metric.within);
    json.end_object();
  }
  json.end_object();
}

void write_counters(JsonWriter& json, const std::vector<CounterSummary>& counters) {
  json.key("counters");
  json.begin_array();
  for (const auto& counter : counters) {
    json.begin_object();
    json.member("name", counter.name);
    json.member("unit", counter.unit);
    write_estimate(json, counter.estimate);
    json.end_object();
  }
  json.end_array();
}

void write_ratios(JsonWriter& json, const std::vector<Ratio>& ratios) {
  json.key("ratios");
  json.begin_object();
  for (const auto& ratio : ratios) {
    json.key(ratio.metric);
    json.begin_object();
    write_estimate(json, ratio.estimate);
    json.end_object();
  }
  json.end_object();
}

void write_outliers(JsonWriter& json, const OutlierCount& outliers) {
  json.key("outliers");
  json.begin_object();
  json.member("mild", outliers.mild);
  json.member("severe", outliers.severe);
  json.member("removed", outliers.removed);
  json.member("total", outliers.total);
  json.end_object();
}

void write_shape(JsonWriter& json, const std::vector<std::int64_t>& shape) {
  json.key("shape");
  json.begin_array();
  for (const auto dimension : shape) json.value(dimension);
  json.end_array();
}

void write_subject_outputs(JsonWriter& json, const SubjectOutputs* outputs) {
  json.key("outputs");
  if (outputs == nullptr) return json.value(nullptr);
  json.begin_object();
  json.member("reference", outputs->reference);
  json.member("agree", outputs->comparison.agree);
  json.member("undecided", outputs->comparison.undecided);
  json.member("items", std::uint64_t{outputs->comparison.items});
  json.key("differences");
  json.begin_array();
  for (const auto& output : outputs->comparison.outputs) write_output_difference(json, output);
  json.end_array();
  write_diagnostics(json, outputs->comparison.diagnostics);
  json.end_object();
}

// Nothing where no trial reports it.
void write_kv_cache(JsonWriter& json, const std::optional<KvCacheMemory>& memory) {
  if (!memory) return;
  json.key("kv_cache");
  json.begin_object();
  json.member("bytes_per_token", memory->bytes_per_token);
  json.member("context", memory->context);
  json.member("bytes", memory->bytes());
  json.end_object();
}

// Nothing where no rows of integers part.
void write_partings(JsonWriter& json, const std::vector<Parting>& partings) {
  if (partings.empty()) return;
  json.key("partings");
  json.begin_array();
  for (const Parting& parting : partings) {
    json.begin_object();
    json.member("item", std::uint64_t{parting.item});
    json.member("position", parting.position);
    json.member("length", parting.length);
    json.numbers("before", parting.before);
    json.numbers("reference", parting.reference);
    json.numbers("candidate", parting.candidate);
    for (const auto& [name, text] :
         {std::pair("before_text", &parting.before_text), std::pair("reference_text", &parting.reference_text),
          std::pair("candidate_text", &parting.candidate_text)}) {
      if (*text) json.member(name, **text);
    }
    json.end_object();
  }
  json.end_array();
}

}  // namespace

void write_estimate(JsonWriter& json, const Estimate& estimate) {
  json.member("value", estimate.value);
  write_interval(json, "interval", estimate.interval);
  json.member("n", estimate.n);
  json.member("processes", estimate.processes);
  json.member("method", estimate.method);
  json.member("note", estimate.note);
}

void write_output_difference(JsonWriter& json, const OutputDifference& output) {
  json.begin_object();
  json.member("name", output.name);
  json.member("dtype", output.dtype);
  write_shape(json, output.shape);
  json.member("comparable", output.comparable);
  json.member("reason", output.reason);
  json.member("within_tolerance", output.within_tolerance);
  json.member("undecided", output.undecided);
  json.member("element_count", output.element_count);
  json.member("mismatched", output.mismatched);
  json.member("max_absolute", output.max_absolute);
  json.member("max_absolute_item", std::uint64_t{output.max_absolute_item});
  json.member("max_absolute_index", output.max_absolute_index);
  json.member("max_absolute_place", output.max_absolute.value_or(0) > 0
                                        ? place_text(output.max_absolute_index, output.shape, output.dtype)
                                        : std::string());
  json.member("reference_at_max", output.reference_at_max);
  json.member("candidate_at_max", output.candidate_at_max);
  for (const DifferenceFigure& figure : difference_figures()) json.member(figure.id, figure.of(output));
  json.member("nan_reference", output.nan_reference);
  json.member("nan_candidate", output.nan_candidate);
  json.member("inf_reference", output.inf_reference);
  json.member("inf_candidate", output.inf_candidate);
  json.member("non_finite_apart", output.non_finite_apart);
  json.member("tolerance_relative", output.tolerance.relative);
  json.member("tolerance_absolute", output.tolerance.absolute);
  json.member("tolerance_floor", output.tolerance.floor);
  write_partings(json, output.partings);
  json.end_object();
}

void write_interval(JsonWriter& json, std::string_view name, const std::optional<Interval>& interval) {
  json.key(name);
  if (!interval) return json.value(nullptr);
  json.begin_object();
  json.member("low", interval->low);
  json.member("high", interval->high);
  json.member("confidence", interval->confidence);
  json.end_object();
}

void write_diagnostics(JsonWriter& json, const std::vector<Diagnostic>& diagnostics, bool of_a_program) {
  json.key("diagnostics");
  json.begin_array();
  for (const auto& diagnostic : diagnostics) {
    json.begin_object();
    json.member("id", to_string(diagnostic.id));
    json.member("severity", to_string(info(diagnostic.id).severity));
    json.member("message", diagnostic.message);
    json.member("remedy", remedy_of(diagnostic.id, of_a_program));
    json.member("about", diagnostic.about);
    json.end_object();
  }
  json.end_array();
}

void write_subject(JsonWriter& json, const Subject& subject, const SubjectVerdict& verdict,
                   const std::vector<Samples>& trials, bool of_a_program) {
  json.begin_object();
  json.member("index", verdict.subject);
  json.member("label", subject.label);
  json.member("model", subject.model);
  json.member("backend", subject.backend);
  json.member("batch_size", subject.batch_size);
  json.member("group", subject.group);
  json.member("baseline", verdict.baseline);
  json.member("trials_ok", verdict.summary.trials_ok);
  json.member("trials_partial", verdict.summary.trials_partial);
  json.member("trials_failed", verdict.summary.trials_failed);
  write_metrics(json, verdict.summary.metrics);
  write_counters(json, verdict.summary.counters);
  write_load(json, subject, verdict, trials);
  write_kv_cache(json, kv_cache_memory(trials, verdict.subject));
  write_ratios(json, verdict.ratios);
  json.member("direction", verdict.direction ? std::optional(to_string(*verdict.direction)) : std::nullopt);
  write_leak(json, verdict.leak);
  write_subject_outputs(json, verdict.outputs);
  write_accuracy(json, verdict.accuracy);
  write_outliers(json, verdict.summary.outliers);
  write_diagnostics(json, verdict.summary.diagnostics, of_a_program);
  json.end_object();
}

}  // namespace infermeter
