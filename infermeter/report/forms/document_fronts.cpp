// Which subjects of a group are on the Pareto front of latency and one other figure, for the picture of trade-offs.
#include <algorithm>
#include <array>
#include <map>

#include "infermeter/report/forms/document_part.hpp"
#include "infermeter/report/run/row.hpp"
#include "infermeter/report/run/subject_label.hpp"
#include "infermeter/verdict/answers/pareto.hpp"
#include "infermeter/verdict/judge.hpp"
#include "infermeter/verdict/variants/figures.hpp"

namespace infermeter {
namespace {

using FrontPoint = std::optional<ParetoValue>;

struct AgainstLatency {
  std::string_view name;  // as the page knows the figure
  bool lower_is_better = true;
  FrontPoint (*of)(const RunRecord& record, const SubjectVerdict& subject);
};

FrontPoint metric_point(const SubjectVerdict& subject, std::string_view name) {
  const Metric* metric = subject.summary.metric(name);
  if (metric == nullptr || !metric->estimate.value) return std::nullopt;
  return ParetoValue{.value = *metric->estimate.value, .interval = metric->estimate.interval};
}

FrontPoint share_point(const RunRecord&, const SubjectVerdict& subject) {
  if (!subject.accuracy || !subject.accuracy->share) return std::nullopt;
  return ParetoValue{.value = *subject.accuracy->share, .interval = subject.accuracy->interval};
}

FrontPoint output_error_point(const RunRecord&, const SubjectVerdict& subject) {
  if (!subject.baseline) return ParetoValue{.value = 0, .exact = true};
  const auto error = output_error(&subject);
  if (!error) return std::nullopt;
  return ParetoValue{.value = *error < rounding_error ? 0 : *error, .exact = true};
}

FrontPoint model_size_point(const RunRecord& record, const SubjectVerdict& subject) {
  const ModelFacts* model = model_of(record, subject.subject);
  if (model == nullptr || model->size_bytes == 0) return std::nullopt;
  return ParetoValue{.value = static_cast<double>(model->size_bytes), .exact = true};
}

constexpr std::array<AgainstLatency, 5> against_latency = {{
    {"accuracy", false, share_point},
    {"output_error", true, output_error_point},
    {"memory_peak", true, [](const RunRecord&, const SubjectVerdict& s) { return metric_point(s, "memory_peak"); }},
    {"device_memory_peak", true,
     [](const RunRecord&, const SubjectVerdict& s) { return metric_point(s, "device_memory_peak"); }},
    {"model_size", true, model_size_point},
}};

void write_front(JsonWriter& json, const RunRecord& record, const AgainstLatency& against,
                 const std::vector<const SubjectVerdict*>& subjects) {
  std::vector<std::vector<FrontPoint>> points;
  for (const SubjectVerdict* subject : subjects) {
    points.push_back({metric_point(*subject, "latency_p50"), against.of(record, *subject)});
  }
  const std::array<bool, 2> lower_is_better = {true, against.lower_is_better};
  const auto verdicts = pareto_front(lower_is_better, points);
  std::vector<double> front;
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    const bool whole = points[i][0] && points[i][1];
    if (whole && verdicts[i].place == ParetoPlace::front) front.push_back(subjects[i]->subject);
  }
  if (front.empty()) return;
  json.begin_object();
  json.member("against", against.name);
  json.member("batch_size", subject_of(record, *subjects.front()).batch_size);
  json.numbers("front", front);
  json.end_object();
}

}  // namespace

void write_fronts(JsonWriter& json, const RunRecord& record, const Verdict& verdict) {
  std::map<std::pair<int, std::int64_t>, std::vector<const SubjectVerdict*>> groups;
  for (const SubjectVerdict& subject : verdict.subjects) {
    const Subject& measured = subject_of(record, subject);
    groups[{measured.group, measured.batch_size}].push_back(&subject);
  }
  json.key("fronts");
  json.begin_array();
  for (const auto& [name, subjects] : groups) {
    if (subjects.size() < 2) continue;
    for (const AgainstLatency& against : against_latency) write_front(json, record, against, subjects);
  }
  json.end_array();
}

}  // namespace infermeter
