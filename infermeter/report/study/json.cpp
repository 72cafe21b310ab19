#include "infermeter/report/study/json.hpp"

#include "infermeter/report/gate/renderers.hpp"
#include "infermeter/report/run/json_parts.hpp"
#include "infermeter/report/study/part_answers.hpp"
#include "infermeter/verdict/judge.hpp"
#include "infermeter/version.hpp"

namespace infermeter {
namespace {

void write_outcome(JsonWriter& json, const std::optional<Outcome>& outcome) {
  json.member("outcome", outcome ? std::optional(std::string(to_string(*outcome))) : std::nullopt);
}

void write_prediction(JsonWriter& json, const RunRecord& record, const Prediction& prediction) {
  const auto label = [&](int subject) { return record.plan.subjects.at(static_cast<std::size_t>(subject)).label; };
  json.begin_object();
  json.member("subject", label(prediction.subject));
  json.member("first", label(prediction.first));
  json.member("counter", prediction.counter);
  json.member("metric", prediction.metric);
  json.member("first_count", prediction.first_count);
  json.member("count", prediction.count);
  json.member("predicted", prediction.predicted);
  json.member("measured", prediction.measured);
  write_interval(json, "interval", prediction.interval);
  const auto fit = fit_of(prediction);
  json.member("fit", fit ? std::optional(std::string(to_string(*fit))) : std::nullopt);
  json.member("reason", prediction.why);
  json.end_object();
}

void write_members(JsonWriter& json, const StudiedPart& part) {
  json.member("name", part.name);
  json.member("title", part.title);
  write_outcome(json, outcome_of(part));
  json.member("finished", part.record.finished);
  std::vector<std::string> runs = {part.record.id};
  runs.insert(runs.end(), part.earlier.begin(), part.earlier.end());
  json.strings("runs", runs);
  std::vector<WordedAnswer> answers = run_answers_of(part);
  for (WordedAnswer& one : predictions_of(part)) answers.push_back(std::move(one));
  write_answers(json, answers);
  json.key("gate");
  if (part.gate.expectations.empty()) {
    json.value(nullptr);
  } else {
    write_gate(json, part.record, part.gate, part.verdict);
  }
  json.key("predictions");
  json.begin_array();
  for (const Prediction& prediction : part.predictions) write_prediction(json, part.record, prediction);
  json.end_array();
}

}  // namespace

std::string render_study_json(const StudyRecord& study, const std::vector<StudyFileLine>& files) {
  JsonWriter json;
  json.begin_object();
  json.member("schema", "infermeter.study/1");
  json.member("infermeter_version", INFERMETER_VERSION);
  json.member("study", study.name);
  json.member("preset", study.preset);
  json.member("title", study.title);
  write_outcome(json, outcome_of(study));
  json.member("exit_code", exit_code_of(study));
  json.key("parts");
  json.begin_array();
  for (const StudiedPart& part : study.parts) {
    json.begin_object();
    write_members(json, part);
    json.end_object();
  }
  json.end_array();
  json.key("files");
  json.begin_array();
  for (const StudyFileLine& file : files) {
    json.begin_object();
    json.member("file", file.file);
    json.member("about", file.about);
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return json.take() + '\n';
}

std::string render_study_part_json(const StudiedPart& part, const RenderOptions& options) {
  JsonWriter json;
  json.begin_object();
  json.member("schema", "infermeter.study_part/1");
  write_members(json, part);
  json.key("run");
  const Verdict verdict = judge(part.record);
  if (options.samples) {
    write_run(json, part.record, verdict, all_iterations);
  } else {
    write_run(json, part.record, verdict, {});
  }
  json.end_object();
  return json.take() + '\n';
}

}  // namespace infermeter
