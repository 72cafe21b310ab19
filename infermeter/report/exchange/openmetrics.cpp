// OpenMetrics text (github.com/prometheus/OpenMetrics, specification 1.0).
#include <fmt/format.h>

#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "infermeter/report/exchange/exchange.hpp"
#include "infermeter/report/run/subject_label.hpp"
#include "infermeter/text/utf8.hpp"

namespace infermeter {
namespace {

using Labels = std::vector<std::pair<std::string_view, std::string>>;

std::string escaped_label(std::string_view text) {
  std::string escaped;
  for (const char c : valid_utf8(text)) {
    if (c == '\\' || c == '"') escaped += '\\';
    if (c == '\n') {
      escaped += "\\n";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

std::string label_set(const Labels& labels) {
  std::string text;
  for (const auto& [name, value] : labels) {
    text += fmt::format("{}{}=\"{}\"", text.empty() ? "{" : ",", name, escaped_label(value));
  }
  return text.empty() ? text : text + '}';
}

struct Family {
  std::string unit, help, samples;
  std::string end{};  // "Lower": of intervals of these levels, in percent
  std::set<double> levels{};
};

// Families in the order of their names; all samples of one stand together, as the form wants it.
class Families {
 public:
  void add(const std::string& name, std::string_view unit, std::string_view help, const Labels& labels, double value,
           std::optional<std::pair<std::string_view, double>> end_of = {}) {
    if (!std::isfinite(value)) return;
    const std::string full = unit.empty() ? name : fmt::format("{}_{}", name, unit);
    Family& family = families_[full];
    family.unit = unit;
    family.help = help;
    if (end_of) family.end = end_of->first, family.levels.insert(end_of->second);
    family.samples += fmt::format("{}{} {}\n", full, label_set(labels), value);
  }

  void estimate(const std::string& name, std::string_view unit, std::string_view help, const Labels& labels,
                const Estimate& estimate) {
    if (!estimate.value) return;
    add(name, unit, help, labels, *estimate.value);
    if (!estimate.interval) return;
    const double level = estimate.interval->confidence * 100;
    add(name + "_low", unit, "interval of " + name, labels, estimate.interval->low, {{"Lower", level}});
    add(name + "_high", unit, "interval of " + name, labels, estimate.interval->high, {{"Upper", level}});
  }

  [[nodiscard]] std::string text() const {
    std::string text;
    for (const auto& [name, family] : families_) {
      text += fmt::format("# TYPE {} gauge\n", name);
      if (!family.unit.empty()) text += fmt::format("# UNIT {} {}\n", name, family.unit);
      std::string help = family.help;
      if (!family.end.empty())
        help = fmt::format("{} end of the {:g} % {}", family.end, fmt::join(family.levels, " % or "), family.help);
      text += fmt::format("# HELP {} {}.\n{}", name, help, family.samples);
    }
    return text;
  }

 private:
  std::map<std::string, Family> families_;
};

std::string_view openmetrics_unit(std::string_view unit) {
  if (unit == "s") return "seconds";
  return unit == "items/s" ? "items_per_second" : unit;
}

Labels metric_labels(const Subject& subject) {
  return {{"subject", subject.label},
          {"model", subject.model},
          {"backend", subject.backend},
          {"dtype", std::string(to_string(subject.dtype))},
          {"batch_size", fmt::format("{}", subject.batch_size)}};
}

Labels with(Labels labels, std::string_view name, std::string value) {
  labels.emplace_back(name, std::move(value));
  return labels;
}

void add_openmetrics(Families& families, const RunRecord& record, const SubjectVerdict& subject) {
  const Labels labels = metric_labels(subject_of(record, subject));
  for (const Metric& metric : subject.summary.metrics) {
    families.estimate("infermeter_" + metric.name, openmetrics_unit(metric.unit),
                      metric.name + " over worker processes", labels, metric.estimate);
  }
  for (const Ratio& ratio : subject.ratios) {
    const std::string& baseline = record.plan.subjects.at(static_cast<std::size_t>(*subject.baseline)).label;
    families.estimate(fmt::format("infermeter_{}_improvement", ratio.metric), "ratio",
                      "How many times as good as the baseline", with(labels, "baseline", baseline), ratio.estimate);
  }
  for (const CounterSummary& counter : subject.summary.counters) {
    if (!is_determined(subject, counter)) continue;
    families.estimate("infermeter_counter", "", "What the subject counted itself",
                      with(with(labels, "counter", counter.name), "unit", counter.unit), counter.estimate);
  }
  if (subject.outputs != nullptr && !subject.outputs->comparison.undecided) {
    families.add("infermeter_outputs_agree", "", "1: outputs agree with those of the first subject of the group",
                 labels, subject.outputs->comparison.agree ? 1 : 0);
  }
  const auto count = [&](const char* end, int processes) {
    families.add("infermeter_processes", "", "Worker processes, by how they ended", with(labels, "end", end),
                 processes);
  };
  count("ok", subject.summary.trials_ok);
  count("partial", subject.summary.trials_partial);
  count("failed", subject.summary.trials_failed);
}

}  // namespace

std::string render_openmetrics(const RunRecord& record, const Verdict& verdict) {
  Families families;
  for (const SubjectVerdict& subject : verdict.subjects) add_openmetrics(families, record, subject);
  families.add("infermeter_run_info", "", "The run that the other samples are of",
               {{"run", record.id},
                {"machine", machine_fingerprint(record.environment)},
                {"version", record.environment.infermeter_version}},
               1);
  families.add("infermeter_run_created", "seconds", "When the run began, since 1970", {}, record.created_at);
  return families.text() + "# EOF\n";
}

}  // namespace infermeter
