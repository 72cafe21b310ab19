#include "infermeter/verdict/figures.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "infermeter/plan/subject.hpp"
#include "infermeter/samples/load/load_counters.hpp"
#include "infermeter/stats/summary/metrics.hpp"
#include "infermeter/text/hash.hpp"
#include "infermeter/verdict/rounds/blocks.hpp"
#include "infermeter/verdict/rounds/disturbance.hpp"

namespace infermeter {
namespace {

std::string runtime_version(const RunRecord& record, int subject) {
  const auto tells = [subject](const Samples& trial) {
    return trial.subject == subject && !trial.executed_value("runtime_version").empty();
  };
  const auto found = std::ranges::find_if(record.trials, tells);
  return found == record.trials.end() ? std::string() : found->executed_value("runtime_version");
}

// A server's index holds texts of so many bytes. A longer one is cut, and distinguished by the hash of all of it.
std::string bounded(std::string text) {
  constexpr std::size_t most = 700;
  if (text.size() <= most) return text;
  Fnv1a hash;
  hash.add(text);
  std::size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  text.resize(end);
  return text + fmt::format("…#{:016x}", hash.value());
}

// What all figures of a subject have in common.
Figure figure_about(const RunRecord& record, int subject) {
  const auto index = static_cast<std::size_t>(subject);
  const Subject& measured = record.plan.subjects[index];
  Figure figure;
  figure.run = record.id;
  figure.subject = subject;
  figure.series = series_of(record.plan, measured);
  figure.machine = machine_fingerprint(record.environment);
  figure.created_at = record.created_at;
  figure.label = bounded(measured.label);
  figure.runtime_version = runtime_version(record, subject);
  for (const Samples& trial : trials_of(record, subject)) figure.disturbed += is_disturbed(trial.noise) ? 1 : 0;
  if (index < record.models.size()) figure.model_sha256 = record.models[index].sha256;
  figure.git_commit = record.environment.git_commit;
  figure.infermeter_version = record.environment.infermeter_version;
  return figure;
}

Figure with_value(Figure figure, const std::string& metric, const Estimate& estimate) {
  figure.metric = metric;
  figure.value = *estimate.value;
  figure.interval = estimate.interval;
  figure.processes = estimate.processes;
  return figure;
}

// Times and rates, whose logarithms a history looks at; none of a load that is not valid, or has too few requests for
// it.
bool has_history(const CounterSummary& counter, const SubjectVerdict& subject) {
  const LoadFigure* figure = load_figure(counter.name);
  if (figure == nullptr || !(figure->unit == "s" || figure->unit == "1/s")) return false;
  if (!subject.load && !figure->of_generation) return false;
  if (subject.load && !(subject.load->valid() && subject.load->why_no_figure(counter.name).empty())) return false;
  return counter.estimate.value.value_or(0) > 0;
}

}  // namespace

std::string series_of(const Plan& plan, const Subject& subject) {
  Subject lasting = subject;
  // What survives another checkout; names of Python's live objects are no paths.
  if (!subject.model.starts_with("live:")) lasting.model = last_name_of(subject.model);
  lasting.backend_library.clear();
  std::ranges::sort(lasting.dimensions);
  std::ranges::sort(lasting.batch_axes);
  std::ranges::sort(lasting.options);
  std::ranges::sort(lasting.load);
  std::ranges::sort(lasting.environment);
  std::string series = short_form(lasting);
  if (plan.cpus.empty()) return bounded(series);
  std::vector<int> cpus = plan.cpus;
  std::ranges::sort(cpus);
  return bounded(series + fmt::format(",cpus={}", fmt::join(cpus, "+")));
}

std::vector<Figure> figures_of(const RunRecord& record, const Verdict& verdict) {
  std::vector<Figure> figures;
  for (const SubjectVerdict& subject : verdict.subjects) {
    if (subject.summary.trials_ok == 0) continue;
    const Figure about = figure_about(record, subject.subject);
    for (const Metric& metric : subject.summary.metrics) {
      const MetricKind* kind = metric_kind(metric.name);
      if (kind == nullptr || !kind->per_process() || !metric.estimate.value) continue;
      figures.push_back(with_value(about, metric.name, metric.estimate));
    }
    for (const CounterSummary& counter : subject.summary.counters)
      if (has_history(counter, subject)) figures.push_back(with_value(about, counter.name, counter.estimate));
  }
  return figures;
}

}  // namespace infermeter
