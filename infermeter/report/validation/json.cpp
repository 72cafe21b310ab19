// A validation for programs (docs/schema/validation.schema.json).
#include "infermeter/report/run/json_parts.hpp"
#include "infermeter/report/validation/parts.hpp"
#include "infermeter/text/utc_time.hpp"
#include "infermeter/verdict/answers/checklist.hpp"

namespace infermeter {
namespace {

void write_validation_side(JsonWriter& json, std::string_view key, const ValidationSubject& side,
                           const AccuracyDrop* drop, bool is_candidate) {
  json.key(key);
  json.begin_object();
  json.member("label", side.subject.label);
  json.member("model", side.subject.model);
  json.member("backend", side.subject.backend);
  json.member("batch_size", side.subject.batch_size);
  json.member("sha256", side.model.sha256);
  json.object("executed", side.executed);
  std::optional<AccuracyVerdict> verdict;
  SubjectAccuracy measured;
  if (drop != nullptr) {
    measured = {.subject = is_candidate ? 1 : 0,
                .accuracy = is_candidate ? drop->candidate : drop->baseline,
                .reference = is_candidate ? std::optional(0) : std::nullopt,
                .paired = is_candidate ? drop->paired : std::nullopt};
    verdict = {.measured = &measured,
               .share = measured.accuracy.share(),
               .interval = is_candidate ? drop->candidate_interval : drop->baseline_interval,
               .change = is_candidate ? drop->change : std::nullopt};
  }
  write_accuracy(json, verdict);
  json.end_object();
}

void write_validation_data(JsonWriter& json, const Validation& validation) {
  json.key("data");
  json.begin_object();
  json.member("source", validation.data.source);
  json.member("labels", validation.data.labels);
  json.member("items", std::uint64_t{validation.items.size()});
  json.member("perturb", validation.perturb);
  json.member("noise", validation.noise);
  json.member("seed", validation.seed);
  json.end_object();
}

void write_validation_outputs(JsonWriter& json, const Validation& validation) {
  json.key("outputs");
  json.begin_array();
  for (std::size_t i = 0; i < validation.outputs.outputs.size(); ++i) {
    const OutputDifference& output = validation.outputs.outputs[i];
    json.begin_object();
    json.member("allowed", output.allowed);
    const auto& again = validation.again.outputs;
    json.member("floor", i < again.size() ? again[i].max_absolute.value_or(0) : 0);
    json.key("difference");
    write_output_difference(json, output);
    json.end_object();
  }
  json.end_array();
}

void write_sample(JsonWriter& json, const Validation& validation, const SampleDifference& sample) {
  json.begin_object();
  json.member("item", std::uint64_t{sample.item});
  json.member("name", sample.item < validation.items.size() ? validation.items[sample.item] : std::string());
  const OutputDifference& output = validation.outputs.outputs.at(sample.output);
  json.member("output", output.name);
  json.member("within_tolerance", sample.within_tolerance);
  json.member("element_count", sample.element_count);
  json.member("mismatched", sample.mismatched);
  json.member("non_finite_apart", sample.non_finite_apart);
  json.member("max_absolute", sample.max_absolute);
  json.member("max_absolute_index", sample.max_absolute_index);
  json.member("max_absolute_place", sample.max_absolute.value_or(0) > 0
                                        ? place_text(sample.max_absolute_index, output.shape, output.dtype)
                                        : std::string());
  json.member("reference_at_max", sample.reference_at_max);
  json.member("candidate_at_max", sample.candidate_at_max);
  for (const DifferenceFigure& figure : difference_figures()) {
    if (figure.of_samples) json.member(figure.id, figure.of(sample));
  }
  json.end_object();
}

void write_samples(JsonWriter& json, const Validation& validation, bool with_samples) {
  json.key("samples");
  json.begin_array();
  if (with_samples) {
    for (const SampleDifference& sample : validation.samples) write_sample(json, validation, sample);
  }
  json.end_array();
}

void write_drop(JsonWriter& json, const Validation& validation) {
  json.key("drop");
  if (!validation.accuracy || !validation.accuracy->allowed) return json.value(nullptr);
  json.begin_object();
  json.member("allowed", *validation.accuracy->allowed);
  json.member("outcome", to_string(outcome_of(*validation.accuracy).value_or(Outcome::inconclusive)));
  json.end_object();
}

void write_perplexity(JsonWriter& json, const std::optional<PerplexityChange>& perplexity) {
  json.key("perplexity");
  if (!perplexity) return json.value(nullptr);
  json.begin_object();
  json.member("baseline", perplexity->baseline);
  json.member("candidate", perplexity->candidate);
  json.member("increase", perplexity->increase);
  write_interval(json, "interval", perplexity->interval);
  json.member("allowed", perplexity->allowed);
  json.end_object();
}

void write_again(JsonWriter& json, const Validation& validation) {
  json.key("again");
  json.begin_object();
  json.member("items", std::uint64_t{validation.again_items});
  json.key("outputs");
  json.begin_array();
  for (const OutputDifference& output : validation.again.outputs) write_output_difference(json, output);
  json.end_array();
  json.end_object();
}

}  // namespace

void write_validation(JsonWriter& json, const Validation& validation, bool with_samples) {
  json.begin_object();
  json.member("schema", "infermeter.validation/1");
  json.member("created_at", utc_time(validation.created_at));
  json.member("hostname", validation.hostname);
  json.member("outcome", to_string(outcome_of(validation)));
  json.member("agree", validation.outputs.agree);
  json.member("undecided", validation.outputs.undecided);
  write_answers(json, worded_answers(validation));
  write_checks(json, checklist(validation));
  const AccuracyDrop* drop = validation.accuracy ? &*validation.accuracy : nullptr;
  write_validation_side(json, "baseline", validation.baseline, drop, false);
  write_validation_side(json, "candidate", validation.candidate, drop, true);
  write_validation_data(json, validation);
  json.member("sandbox", validation.sandbox);
  write_drop(json, validation);
  write_perplexity(json, validation.perplexity);
  write_validation_outputs(json, validation);
  write_again(json, validation);
  write_samples(json, validation, with_samples);
  write_diagnostics(json, diagnostics_of(validation));
  json.key("times");
  json.begin_object();
  json.member("models_s", validation.times.models_s);
  json.member("again_s", validation.times.again_s);
  json.member("data_s", validation.times.data_s);
  json.member("whole_s", validation.times.whole_s);
  json.end_object();
  json.end_object();
}

std::string render_validation_json(const Validation& validation, bool with_samples) {
  JsonWriter json;
  write_validation(json, validation, with_samples);
  return json.take() + '\n';
}

}  // namespace infermeter
