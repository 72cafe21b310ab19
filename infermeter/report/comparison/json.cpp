#include "infermeter/report/run/json_parts.hpp"
#include "infermeter/stats/summary/metrics.hpp"
#include "infermeter/text/utc_time.hpp"

namespace infermeter {

void write_paired(JsonWriter& json, const PairedComparison& comparison) {
  const MetricKind* kind = metric_kind(comparison.metric);
  json.member("baseline", comparison.baseline);
  json.member("candidate", comparison.candidate);
  json.member("metric", comparison.metric);
  json.member("lower_is_better", kind == nullptr || kind->lower_is_better);
  json.member("pairs", std::uint64_t{comparison.differences.size()});
  json.member("incomplete", comparison.incomplete);
  json.member("dropped", comparison.dropped);
  json.member("baseline_processes", comparison.baseline_processes);
  json.member("candidate_processes", comparison.candidate_processes);
  json.member("estimate", comparison.estimate);
  write_interval(json, "interval", comparison.interval);
  write_interval(json, "t_interval", comparison.t);
  write_interval(json, "sign_interval", comparison.sign);
  json.member("p", comparison.p);
  json.member("standard_deviation", comparison.standard_deviation);
  json.member("spread", comparison.spread);
  json.member("minimum_effect", comparison.minimum_effect);
  json.member("more_pairs", comparison.more_pairs);
  json.numbers("differences", comparison.differences);
}

namespace {

void write_looks(JsonWriter& json, const std::vector<Look>& looks) {
  json.key("looks");
  json.begin_array();
  for (const Look& look : looks) {
    json.begin_object();
    json.member("pairs", look.pairs);
    json.member("level", look.level);
    json.member("p", look.p);
    json.member("estimate", look.estimate);
    write_interval(json, "interval", look.interval);
    json.member("direction", to_string(look.direction));
    json.end_object();
  }
  json.end_array();
}

}  // namespace

void write_comparison(JsonWriter& json, const std::optional<ComparisonVerdict>& verdict) {
  json.key("comparison");
  if (!verdict) return json.value(nullptr);
  json.begin_object();
  json.member("paired", verdict->paired);
  json.member("pairs", verdict->pairs);
  json.member("resolved", verdict->resolved);
  json.member("steady", verdict->steady);
  json.member("ended", verdict->ended);
  json.member("wall_s", verdict->wall_s);
  json.key("primary");
  json.begin_array();
  for (std::size_t i = 0; i < verdict->primary.size(); ++i) {
    json.begin_object();
    json.member("direction", to_string(verdict->primary[i].direction));
    json.member("withheld", verdict->primary[i].withheld);
    write_paired(json, verdict->primary[i]);
    write_looks(json, verdict->looks.at(i));
    json.end_object();
  }
  json.end_array();
  json.key("exploratory");
  json.begin_array();
  for (const PairedComparison& comparison : verdict->exploratory) {
    json.begin_object();
    json.member("direction", to_string(comparison.direction));
    write_paired(json, comparison);
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

void write_joined(JsonWriter& json, const std::vector<JoinedRun>& runs) {
  json.key("joined");
  json.begin_array();
  for (const JoinedRun& run : runs) {
    json.begin_object();
    json.member("id", run.id);
    json.member("created_at", utc_time(run.created_at));
    json.member("machine", run.machine);
    json.strings("unmatched", run.unmatched);
    if (!run.host.empty()) json.member("host", run.host);
    json.end_object();
  }
  json.end_array();
}

void write_question(JsonWriter& json, const std::optional<Question>& question) {
  json.key("question");
  if (!question) return json.value(nullptr);
  json.begin_object();
  json.member("metric", question->metric);
  json.member("margin", question->margin);
  json.member("alpha", question->alpha);
  json.member("until_resolved", question->until_resolved);
  json.member("all_pairs", question->all_pairs);
  json.member("drop_disturbed", question->drop_disturbed);
  json.member("budget_s", question->budget_s);
  json.end_object();
}

void write_machine_noise(JsonWriter& json, const std::optional<MachineNoise>& noise) {
  json.key("machine_noise");
  if (!noise) return json.value(nullptr);
  json.begin_object();
  json.member("measured_at", utc_time(noise->measured_at));
  json.member("subject", noise->subject);
  json.member("metric", noise->metric);
  json.member("pairs", noise->pairs);
  json.member("standard_deviation", noise->standard_deviation);
  json.end_object();
}

void write_leak(JsonWriter& json, const std::optional<LeakEstimate>& leak) {
  json.key("leak");
  if (!leak) return json.value(nullptr);
  json.begin_object();
  json.member("verdict", to_string(leak->verdict));
  json.member("bytes_per_iteration", leak->bytes_per_iteration);
  write_interval(json, "interval", leak->interval);
  json.member("from_iteration", std::uint64_t{leak->from} + 1);
  json.member("growth_bytes", leak->growth_bytes);
  json.member("detectable_bytes_per_iteration", leak->detectable_bytes_per_iteration);
  json.member("reason", leak->reason);
  json.end_object();
}

}  // namespace infermeter
