// Variants for programs (docs/schema/variants.schema.json).
#include "infermeter/report/run/json_parts.hpp"
#include "infermeter/report/run/recommendations.hpp"
#include "infermeter/report/run/row.hpp"
#include "infermeter/report/run/subject_label.hpp"
#include "infermeter/report/variants/table.hpp"
#include "infermeter/text/utc_time.hpp"
#include "infermeter/verdict/answers/run_checklist.hpp"

namespace infermeter {
namespace {

void write_variant_estimate(JsonWriter& json, const char* key, const Estimate* estimate) {
  json.key(key);
  if (estimate == nullptr || !estimate->value) return json.value(nullptr);
  json.begin_object();
  json.member("value", estimate->value);
  write_interval(json, "interval", estimate->interval);
  json.end_object();
}

const Estimate* estimate_of(const SubjectVerdict& subject, std::string_view metric) {
  const Metric* found = subject.summary.metric(metric);
  return found == nullptr ? nullptr : &found->estimate;
}

const Estimate* ratio_estimate(const SubjectVerdict& subject) {
  const Ratio* ratio = ratio_of(subject, "latency_p50");
  return ratio == nullptr ? nullptr : &ratio->estimate;
}

void write_measurement(JsonWriter& json, const RunRecord& record, const SubjectVerdict& subject) {
  json.begin_object();
  const Subject& asked = subject_of(record, subject);
  json.member("subject", subject.subject);
  json.member("label", asked.label);
  json.member("batch_size", asked.batch_size);
  write_variant_estimate(json, "latency_p50_s", estimate_of(subject, "latency_p50"));
  write_variant_estimate(json, "throughput_ips", estimate_of(subject, "throughput"));
  write_variant_estimate(json, "speed_up", ratio_estimate(subject));
  write_variant_estimate(json, "memory_peak_bytes", estimate_of(subject, "memory_peak"));
  write_variant_estimate(json, "device_memory_peak_bytes", estimate_of(subject, "device_memory_peak"));
  for (const auto& [key, name] : {std::pair("ttft_p50_s", "ttft_p50"), std::pair("tpot_p50_s", "tpot_p50")}) {
    if (const Estimate* time = subject.summary.estimate(name)) write_variant_estimate(json, key, time);
  }
  json.end_object();
}

const char* place_name(const VariantFigures& one) {
  switch (one.pareto.place) {
    case ParetoPlace::front: return "front";
    case ParetoPlace::dominated: return "dominated";
    case ParetoPlace::not_placed: break;
  }
  return "not_placed";
}

void write_pareto(JsonWriter& json, const VariantFigures& one, const VariantsFigures& figures) {
  json.key("pareto");
  json.begin_object();
  json.member("place", place_name(one));
  std::vector<std::string> by;
  for (const std::size_t other : one.pareto.dominated_by) by.push_back(figures.variants[other].entry->label);
  json.strings("dominated_by", by);
  json.end_object();
}

void write_variant_recommendations(JsonWriter& json, const RunRecord& record, const VariantFigures& one) {
  json.key("recommendations");
  json.begin_array();
  for (const Recommendation& recommendation : one.recommendations) {
    json.begin_object();
    json.member("kind", to_string(recommendation.kind));
    json.member("batch_size", record.plan.subjects.at(static_cast<std::size_t>(recommendation.subject)).batch_size);
    json.member("value", recommendation.value);
    write_interval(json, "interval", recommendation.interval);
    json.member("text", recommendation_sentence(recommendation).text);
    json.end_object();
  }
  json.end_array();
}

// Nothing of what read no texts.
void write_texts(JsonWriter& json, const VariantFigures& one) {
  const SubjectVerdict* subject = one.subjects.empty() ? nullptr : one.subjects.front();
  if (subject == nullptr || !subject->accuracy || !subject->accuracy->measured->is_of_texts()) return;
  const auto& change = subject->accuracy->perplexity_change;
  const LanguageQuality quality = language_quality(one);
  json.key("texts");
  json.begin_object();
  json.member("perplexity", subject->accuracy->perplexity);
  json.member("increase", change ? std::optional(change->increase) : std::nullopt);
  write_interval(json, "interval", change ? change->interval : std::nullopt);
  json.member("kl_divergence", quality.kl_divergence);
  json.member("top1_agreement", quality.top1_agreement);
  json.end_object();
}

void write_variant(JsonWriter& json, const RunRecord& record, const VariantFigures& one,
                   const VariantsFigures& figures) {
  json.begin_object();
  json.member("label", one.entry->label);
  json.member("kind", one.entry->kind);
  json.member("failure", one.failure.empty() ? std::nullopt : std::optional(one.failure));
  json.key("model");
  if (one.model == nullptr) {
    json.value(nullptr);
  } else {
    write_model(json, *one.model);
  }
  json.member("size_bytes", one.size_bytes);
  json.key("measurements");
  json.begin_array();
  for (const SubjectVerdict* subject : one.subjects)
    if (subject != nullptr) write_measurement(json, record, *subject);
  json.end_array();
  json.member("output_error", one.output_error);
  json.member("accuracy", one.accuracy == nullptr ? std::nullopt : one.accuracy->accuracy.share());
  write_texts(json, one);
  write_pareto(json, one, figures);
  write_variant_recommendations(json, record, one);
  json.strings("remarks", one.remarks);
  json.end_object();
}

}  // namespace

void write_variants(JsonWriter& json, const RunRecord& record, const Verdict& verdict, const VariantSet& set,
                    const VariantsFigures& figures) {
  json.begin_object();
  json.member("schema", "infermeter.variants/1");
  json.member("run", record.id);
  json.member("created_at", utc_time(record.created_at));
  json.member("finished", record.finished);
  json.member("model", set.model);
  json.member("machine", machine_fingerprint(record.environment));
  json.key("batch_sizes");
  json.begin_array();
  for (const std::int64_t size : set.batch_sizes) json.value(size);
  json.end_array();
  write_answers(json, worded(figures, variants_answers(figures)));
  write_checks(json, checklist(record, verdict, {.variants = true}));
  json.strings("pareto_figures", figures.pareto_of);
  json.key("variants");
  json.begin_array();
  for (const VariantFigures& one : figures.variants) write_variant(json, record, one, figures);
  json.end_array();
  json.strings("notes", set.notes);
  json.end_object();
}

std::string render_variants_json(const RunRecord& record, const Verdict& verdict, const VariantSet& set,
                                 const VariantsFigures& figures) {
  JsonWriter json;
  write_variants(json, record, verdict, set, figures);
  return json.take() + '\n';
}

}  // namespace infermeter
