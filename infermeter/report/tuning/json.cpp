#include "infermeter/report/run/json_parts.hpp"

namespace infermeter {
namespace {

void write_bounds(JsonWriter& json, const std::vector<BoundVerdict>& bounds) {
  json.key("bounds");
  json.begin_array();
  for (const BoundVerdict& bound : bounds) {
    json.begin_object();
    json.member("constraint", bound.constraint);
    json.member("kept", to_string(bound.kept));
    json.member("value", bound.value);
    write_interval(json, "interval", bound.interval);
    json.member("why", bound.why);
    json.end_object();
  }
  json.end_array();
}

void write_setting(JsonWriter& json, const TunedSetting& setting) {
  json.begin_object();
  json.member("subject", setting.subject);
  json.member("fate", to_string(setting.fate));
  json.member("reason", setting.reason);
  json.member("blocks", setting.blocks);
  json.member("out_after", setting.out_after);
  json.member("behind", setting.behind);
  write_interval(json, "behind_interval", setting.behind_interval);
  json.member("on_front", setting.on_front);
  write_bounds(json, setting.bounds);
  json.end_object();
}

void write_confirmed(JsonWriter& json, std::string_view name, const std::optional<PairedComparison>& pairs) {
  json.key(name);
  if (!pairs) return json.value(nullptr);
  json.begin_object();
  json.member("direction", to_string(pairs->direction));
  write_paired(json, *pairs);
  json.end_object();
}

}  // namespace

void write_tuning(JsonWriter& json, const std::optional<TuningVerdict>& verdict, const std::optional<Tuning>& asked) {
  json.key("tuning");
  if (!verdict) return json.value(nullptr);
  json.begin_object();
  const MetricKind* const objective = asked ? metric_kind(asked->objective) : nullptr;  // nullptr: the model's size
  json.member("unit", objective == nullptr ? "bytes" : objective->unit);
  json.member("lower_is_better", objective == nullptr || objective->lower_is_better);
  json.member("stage", to_string(verdict->stage));
  json.member("decided", verdict->decided);
  json.member("out_of_time", verdict->out_of_time);
  json.member("blocks", verdict->blocks);
  json.member("best", verdict->best);
  json.member("second", verdict->second);
  json.member("wall_s", verdict->wall_s);
  write_confirmed(json, "against_default", verdict->against_default);
  write_confirmed(json, "against_second", verdict->against_second);
  json.key("settings");
  json.begin_array();
  for (const TunedSetting& setting : verdict->settings) write_setting(json, setting);
  json.end_array();
  json.end_object();
}

void write_planned_tuning(JsonWriter& json, const std::optional<Tuning>& tuning) {
  json.key("tuning");
  if (!tuning) return json.value(nullptr);
  json.begin_object();
  json.member("objective", tuning->objective);
  json.strings("constraints", tuning->constraints);
  json.member("indifference", tuning->indifference);
  json.member("alpha", tuning->alpha);
  json.member("budget_s", tuning->budget_s);
  json.member("halving_blocks", tuning->halving_blocks);
  json.member("race_blocks", tuning->race_blocks);
  json.member("confirmation_pairs", tuning->confirmation_pairs);
  json.member("settings", std::uint64_t{tuning->settings});
  json.key("left_out");
  json.begin_array();
  for (const auto& [setting, reason] : tuning->left_out) {
    json.begin_object();
    json.member("setting", setting);
    json.member("reason", reason);
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

}  // namespace infermeter
