#include "infermeter/report/overview/overview.hpp"

#include "infermeter/report/overview/headline.hpp"
#include "infermeter/report/run/json_parts.hpp"
#include "infermeter/text/quoted.hpp"
#include "infermeter/text/utc_time.hpp"

namespace infermeter {
namespace {

void write_effect(JsonWriter& json, const Effect& effect) {
  json.begin_object();
  json.member("subject", effect.subject);
  json.member("baseline", effect.baseline);
  json.member("group", effect.group);
  json.member("label", effect.label);
  json.member("against", effect.against);
  json.member("metric", effect.metric);
  json.member("change", effect.change);
  write_interval(json, "interval", effect.change_interval);
  json.member("verdict", effect.verdict.verdict);
  json.member("tone", to_string(effect.verdict.tone));
  json.end_object();
}

void write_since(JsonWriter& json, const std::optional<SinceLast>& since) {
  json.key("since_last");
  if (!since) return json.value(nullptr);
  json.begin_object();
  json.member("run", since->run);
  json.member("at", utc_time(since->at));
  json.key("subjects");
  json.begin_array();
  for (const ChangeSinceLast& one : since->subjects) {
    json.begin_object();
    json.member("subject", one.subject);
    json.member("change", one.change);
    write_interval(json, "interval", one.change_interval);
    json.member("direction", to_string(one.direction));
    json.end_object();
  }
  json.end_array();
  std::vector<std::string> differences;
  for (const std::string& difference : since->differences) differences.push_back(printable(difference));
  json.strings("differences", differences);
  json.end_object();
}

}  // namespace

Overview overview_of_run(const RunRecord& record, const Verdict& verdict, const std::vector<WordedAnswer>& answers) {
  Overview overview{.headline = {}, .margin = margin_of(record), .effects = effects_of(record, verdict)};
  overview.headline = headline_of_run(record, verdict, overview.effects, answers);
  return overview;
}

void write_overview(JsonWriter& json, const Overview& overview) {
  json.key("overview");
  json.begin_object();
  json.key("headline");
  json.begin_object();
  json.member("verdict", overview.headline.verdict);
  json.member("tone", to_string(overview.headline.tone));
  json.member("text", overview.headline.text);
  json.end_object();
  json.member("margin", overview.margin);
  json.key("effects");
  json.begin_array();
  for (const Effect& effect : overview.effects) write_effect(json, effect);
  json.end_array();
  write_since(json, overview.since);
  json.end_object();
}

}  // namespace infermeter
