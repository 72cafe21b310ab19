// Bencher Metric Format (bencher.dev/docs/reference/bencher-metric-format).
#include <set>
#include <string>
#include <string_view>

#include "infermeter/report/exchange/exchange.hpp"
#include "infermeter/report/forms/json_writer.hpp"
#include "infermeter/report/run/subject_label.hpp"

namespace infermeter {
namespace {

class Measures {
 public:
  explicit Measures(JsonWriter& json) : json_(json) {}

  // Of those that have the same name the first one counts.
  void add(const std::string& name, const Estimate& estimate, double scale) {
    if (!estimate.value || !known_.insert(name).second) return;
    json_.key(name);
    json_.begin_object();
    json_.member("value", *estimate.value * scale);
    if (estimate.interval) {
      json_.member("lower_value", estimate.interval->low * scale);
      json_.member("upper_value", estimate.interval->high * scale);
    }
    json_.end_object();
  }

 private:
  JsonWriter& json_;
  std::set<std::string> known_;
};

// Times are in nanoseconds.
double nanoseconds_in(std::string_view unit) { return unit == "s" ? 1e9 : unit == "ms" ? 1e6 : 1; }

}  // namespace

std::string render_bencher(const RunRecord& record, const Verdict& verdict) {
  JsonWriter json;
  json.begin_object();
  for (const SubjectVerdict& subject : verdict.subjects) {
    json.key(subject_of(record, subject).label);
    json.begin_object();
    Measures measures(json);
    for (const Metric& metric : subject.summary.metrics) {
      measures.add(metric.name == "latency_p50" ? "latency" : metric.name, metric.estimate,
                   nanoseconds_in(metric.unit));
    }
    for (const CounterSummary& counter : subject.summary.counters)
      if (is_determined(subject, counter)) measures.add(counter.name, counter.estimate, nanoseconds_in(counter.unit));
    json.end_object();
  }
  json.end_object();
  return json.take() + '\n';
}

}  // namespace infermeter
