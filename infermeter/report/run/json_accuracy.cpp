#include "infermeter/report/run/json_parts.hpp"

namespace infermeter {
namespace {

void write_labels(JsonWriter& json, const std::optional<LabelAccuracy>& labels) {
  json.key("labels");
  if (!labels) return json.value(nullptr);
  json.begin_object();
  json.member("rows", labels->rows);
  json.member("top1", labels->top1);
  json.member("top5", labels->top5);
  json.member("top5_share", labels->top5_share());
  json.key("classes");
  json.begin_array();
  for (const ClassAccuracy& one : labels->classes) {
    json.begin_object();
    json.member("label", one.label);
    json.member("rows", one.rows);
    json.member("right", one.right);
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

void write_masks(JsonWriter& json, const std::optional<MaskAccuracy>& masks) {
  json.key("masks");
  if (!masks) return json.value(nullptr);
  json.begin_object();
  json.member("pixels", masks->pixels);
  json.member("right", masks->right);
  json.member("mean_iou", masks->mean_iou());
  json.member("mean_dice", masks->mean_dice());
  json.key("classes");
  json.begin_array();
  for (const ClassOverlap& one : masks->classes) {
    json.begin_object();
    json.member("label", one.label);
    json.member("truth", one.truth);
    json.member("predicted", one.predicted);
    json.member("both", one.both);
    json.member("iou", one.iou());
    json.member("dice", one.dice());
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

void write_accuracy_change(JsonWriter& json, const AccuracyVerdict& accuracy) {
  json.key("change");
  const auto& paired = accuracy.measured->paired;
  if (!accuracy.change || !paired) return json.value(nullptr);
  json.begin_object();
  json.member("value", accuracy.change->difference);
  write_interval(json, "interval", accuracy.change->interval);
  json.member("p", accuracy.change->p_value);
  json.member("both", paired->both);
  json.member("reference_only", paired->reference_only);
  json.member("candidate_only", paired->candidate_only);
  json.member("neither", paired->neither);
  json.end_object();
}

// With its key; nothing of what is no text.
void write_perplexity_of(JsonWriter& json, const AccuracyVerdict& accuracy) {
  if (!accuracy.measured->is_of_texts()) return;
  json.key("perplexity");
  json.begin_object();
  json.member("value", accuracy.perplexity);
  json.member("texts", std::uint64_t{accuracy.measured->text_losses.size()});
  const auto& change = accuracy.perplexity_change;
  json.member("increase", change ? std::optional(change->increase) : std::nullopt);
  write_interval(json, "interval", change ? change->interval : std::nullopt);
  json.end_object();
}

}  // namespace

void write_accuracy(JsonWriter& json, const std::optional<AccuracyVerdict>& accuracy) {
  json.key("accuracy");
  if (!accuracy) return json.value(nullptr);
  const SubjectAccuracy& measured = *accuracy->measured;
  json.begin_object();
  json.member("output", measured.accuracy.output);
  json.member("value", accuracy->share);
  write_interval(json, "interval", accuracy->interval);
  write_labels(json, measured.accuracy.labels);
  write_masks(json, measured.accuracy.masks);
  json.member("reference", measured.reference);
  write_accuracy_change(json, *accuracy);
  write_perplexity_of(json, *accuracy);
  json.end_object();
}

}  // namespace infermeter
