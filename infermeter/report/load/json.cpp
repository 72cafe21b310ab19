// The load of a subject as JSON: whether it is valid, its figures, and what pictures of it need.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "infermeter/plan/load/load_shape.hpp"
#include "infermeter/report/run/json_parts.hpp"
#include "infermeter/samples/load/load_counters.hpp"
#include "infermeter/stats/load/requests_needed.hpp"
#include "infermeter/text/quoted.hpp"

namespace infermeter {
namespace {

// For a picture of the distribution with a logarithmic tail: each decade of what lies above has the same width.
constexpr auto drawn_shares = std::to_array({0.001, 0.01,  0.05, 0.1,   0.25,   0.5,   0.6,    0.7,     0.8,    0.9,
                                             0.95,  0.975, 0.99, 0.995, 0.9975, 0.999, 0.9995, 0.99975, 0.9999, 1.0});

void write_findings(JsonWriter& json, const LoadValidity& load) {
  json.key("findings");
  json.begin_array();
  for (const LoadFinding& finding : load.findings) {
    json.begin_object();
    json.member("rule", to_string(finding.rule));
    json.member("value", finding.value);
    json.member("bound", finding.bound);
    json.member("unit", finding.unit);
    json.member("message", finding.message);
    json.member("remedy", info(diagnostic_of(finding.rule)).remedy);
    json.end_object();
  }
  json.end_array();
}

void write_timeline_of_load(JsonWriter& json, const LoadRecord& load) {
  std::vector<double> arrived, completed, failed, in_flight, slowest_s;
  for (const LoadBin& bin : load.timeline) {
    arrived.push_back(static_cast<double>(bin.arrived));
    completed.push_back(static_cast<double>(bin.completed));
    failed.push_back(static_cast<double>(bin.failed));
    in_flight.push_back(static_cast<double>(bin.in_flight));
    slowest_s.push_back(bin.slowest_s);
  }
  json.key("timeline");
  json.begin_object();
  json.member("bin_s", load.bin_s);
  json.numbers("arrived", arrived);
  json.numbers("completed", completed);
  json.numbers("failed", failed);
  json.numbers("in_flight", in_flight);
  json.numbers("slowest_s", slowest_s);
  json.end_object();
}

void write_percentiles(JsonWriter& json, const LoadRecord& load) {
  const auto values = [](const HistogramRecord& histogram) {
    std::vector<double> at;
    if (histogram.counts.empty()) return at;
    for (const double share : drawn_shares) at.push_back(histogram.quantile_s(share).value_or(0));
    return at;
  };
  json.key("percentiles");
  json.begin_object();
  json.numbers("share", std::vector<double>(drawn_shares.begin(), drawn_shares.end()));
  json.numbers("response_s", values(load.response));
  json.numbers("service_s", values(load.service));
  json.numbers("lag_s", values(load.lag));
  json.end_object();
}

void write_errors(JsonWriter& json, const LoadRecord& load) {
  json.key("errors");
  json.begin_array();
  for (const auto& [text, count] : load.errors) {
    json.begin_object();
    json.member("message", printable(text, 300));
    json.member("count", count);
    json.end_object();
  }
  json.end_array();
}

// Failed requests of all processes by their class, in the order of kErrorKinds.
void write_error_kinds(JsonWriter& json, const std::vector<const LoadRecord*>& loads) {
  json.key("error_kinds");
  json.begin_array();
  for (const std::string_view kind : kErrorKinds) {
    std::uint64_t count = 0;
    for (const LoadRecord* load : loads) {
      for (const auto& [name, failed] : load->error_kinds) count += name == kind ? failed : 0;
    }
    if (count == 0) continue;
    json.begin_object();
    json.member("kind", kind);
    json.member("count", count);
    json.end_object();
  }
  json.end_array();
}

// Why a figure is not what it seems to be; empty: it is.
std::string why_not(std::string_view name, const LoadValidity& load) {
  const std::string why = load.why_no_figure(name);
  if (why.empty() && counts_from_arrival(name) && load.is_overloaded())
    return "more requests came than the subject can take";
  return why;
}

// Rates that were tried while the highest was sought.
void write_steps(JsonWriter& json, const LoadRecord& load) {
  json.key("steps");
  json.begin_array();
  for (const LoadStepRecord& step : load.steps) {
    json.begin_object();
    json.member("rate", step.rate);
    json.member("requests", step.requests);
    json.member("response_s", step.response_s);
    json.member("met", step.met);
    json.end_object();
  }
  json.end_array();
}

void write_load_process(JsonWriter& json, const Samples& trial) {
  const LoadRecord& load = *trial.load;
  json.begin_object();
  json.member("process", trial.process);
  json.member("position", trial.position);
  json.member("open_loop", load.open_loop);
  json.member("clients", load.clients);
  json.member("samples", load.samples);
  json.member("due", load.due);
  json.member("issued", load.issued);
  json.member("completed", load.completed);
  json.member("failed", load.failed);
  json.member("arrivals_s", load.arrivals_s);
  json.member("duration_s", load.duration_s);
  json.member("gave_up", load.gave_up);
  json.member("checked", load.checked);
  json.member("mismatched", load.mismatched);
  json.member("largest_difference", load.largest_difference);
  write_steps(json, load);
  write_timeline_of_load(json, load);
  write_percentiles(json, load);
  write_errors(json, load);
  json.end_object();
}

void write_asked_bound(JsonWriter& json, std::string_view figure, double bound_s) {
  json.begin_object();
  json.member("figure", figure);
  json.member("bound_s", bound_s);
  json.end_object();
}

// What was asked of times: a percentile's of a rate that is sought, each request's of goodput.
void write_asked_bounds(JsonWriter& json, const Pairs& asked) {
  json.key("bounds");
  json.begin_array();
  if (const auto shape = load_shape_from_pairs(asked)) {
    if (const auto& sought = shape->find_rate) {
      std::string figure = fmt::format("response_p{:g}", 100 * sought->percentile);
      std::ranges::replace(figure, '.', '_');
      write_asked_bound(json, figure, sought->bound_s);
    }
    if (const auto& good = shape->goodput) {
      if (good->response_s) write_asked_bound(json, "response", *good->response_s);
      if (good->ttft_s) write_asked_bound(json, "ttft", *good->ttft_s);
      if (good->tpot_s) write_asked_bound(json, "tpot", *good->tpot_s);
    }
  }
  json.end_array();
}

}  // namespace

void write_load(JsonWriter& json, const Subject& subject, const SubjectVerdict& verdict,
                const std::vector<Samples>& trials) {
  if (!verdict.load) return;
  json.key("load");
  json.begin_object();
  json.object("asked", subject.load);
  write_asked_bounds(json, subject.load);
  json.member("valid", verdict.load->valid());
  json.member("requests", verdict.load->requests);
  write_findings(json, *verdict.load);
  json.key("figures");
  json.begin_object();
  for (const CounterSummary& counter : verdict.summary.counters) {
    const LoadFigure* figure = load_figure(counter.name);
    if (figure == nullptr) continue;
    json.key(counter.name);
    json.begin_object();
    json.member("unit", counter.unit);
    json.member("lower_is_better", figure->lower_is_better);
    const std::string why = why_not(counter.name, *verdict.load);
    json.member("holds", why.empty());
    Estimate estimate = counter.estimate;
    if (!why.empty()) estimate.note = why + (estimate.note.empty() ? "" : "; ") + estimate.note;
    write_estimate(json, estimate);
    json.end_object();
  }
  json.end_object();
  std::vector<const LoadRecord*> loads;
  json.key("processes");
  json.begin_array();
  for (const Samples& trial : trials) {
    if (!trial.load || trial.subject != verdict.subject) continue;
    write_load_process(json, trial);
    loads.push_back(&*trial.load);
  }
  json.end_array();
  write_error_kinds(json, loads);
  json.end_object();
}

}  // namespace infermeter
