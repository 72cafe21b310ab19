#include "infermeter/verdict/load/load_validity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "infermeter/plan/load/load_shape.hpp"
#include "infermeter/stats/load/queue_growth.hpp"
#include "infermeter/stats/load/requests_needed.hpp"
#include "infermeter/text/counts.hpp"
#include "infermeter/text/quoted.hpp"

namespace infermeter {
namespace {

constexpr double most_missed = 0.005;  // share of the rate
constexpr double most_late = 0.05;     // share of the median response time
constexpr double most_growth = 0.01;   // share of the requests
// Share of an output's largest value. Low precisions and other orders of summation are within it; answers that were
// mixed up are not.
constexpr double most_different = 0.01;

using Found = std::optional<LoadFinding>;

std::string as_percent(double share) {
  return share < 0.1 ? fmt::format("{:.2g} %", 100 * share) : fmt::format("{:.0f} %", 100 * share);
}

// One digit more than a reader needs, whatever the size.
std::string short_time(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.3g} µs", seconds * 1e6);
  return seconds < 1 ? fmt::format("{:.3g} ms", seconds * 1e3) : fmt::format("{:.3g} s", seconds);
}

Found missed_rate(const LoadRecord& load) {
  const std::uint64_t ended = load.completed + load.failed;
  if (!load.open_loop || load.due == 0 || !(load.arrivals_s > 0)) return std::nullopt;
  // The last requests may take as long as others do.
  const double usual_s = load.response.quantile_s(0.99).value_or(0);
  const double busy_s = std::max(load.arrivals_s, load.duration_s - usual_s);
  const double offered = static_cast<double>(load.due) / load.arrivals_s;
  const double achieved = static_cast<double>(ended) / busy_s;
  const double missed = 1 - achieved / offered;
  if (missed <= most_missed) return std::nullopt;
  return LoadFinding{LoadRule::rate, missed, most_missed, "share",
                     fmt::format("{:.4g} requests came per second and {:.4g} ended, {} fewer (at most {})", offered,
                                 achieved, as_percent(missed), as_percent(most_missed))};
}

Found too_late(const LoadRecord& load) {
  const auto late_s = load.late.quantile_s(0.99), median_s = load.response.quantile_s(0.5);
  if (!late_s || !median_s || *late_s == 0) return std::nullopt;
  // Of a response that took no time that the clock can see every lateness is too much.
  const double share = *median_s > 0 ? *late_s / *median_s : 1;
  if (share <= most_late) return std::nullopt;
  return LoadFinding{LoadRule::late, share, most_late, "share",
                     fmt::format("the generator issued requests up to {} late (p99), {} of the median response time of "
                                 "{} (at most {}): it is the bottleneck",
                                 short_time(*late_s), as_percent(share), short_time(*median_s), as_percent(most_late))};
}

Found failed_requests(const LoadRecord& load) {
  if (load.failed == 0) return std::nullopt;
  std::string kinds, texts;
  for (const auto& [kind, count] : load.error_kinds) {
    kinds += fmt::format("{}{} {}", kinds.empty() ? " (" : ", ", count, printable(kind, 20));
  }
  if (!kinds.empty()) kinds += ')';
  for (const auto& [text, count] : load.errors) {
    texts += fmt::format("{}{} ({})", texts.empty() ? ": " : ", ", printable(text, 200), count);
  }
  return LoadFinding{
      LoadRule::errors, static_cast<double>(load.failed), 0, "requests",
      fmt::format("{} of {} requests failed{}{}", load.failed, load.completed + load.failed, kinds, texts)};
}

Found too_few_requests(const LoadRecord& load, std::optional<double> percentile) {
  if (!percentile) return std::nullopt;
  const std::int64_t needed = requests_needed(*percentile);
  if (load.completed >= static_cast<std::uint64_t>(needed)) return std::nullopt;
  return LoadFinding{LoadRule::enough, static_cast<double>(load.completed), static_cast<double>(needed), "requests",
                     fmt::format("{} for p{:g} of the response time, which needs {}",
                                 counted(static_cast<std::int64_t>(load.completed), "request", "requests"),
                                 100 * *percentile, needed)};
}

Found growing_queue(const LoadRecord& load) {
  if (!load.open_loop || load.due == 0 || !(load.bin_s > 0)) return std::nullopt;
  const double whole_bins = std::floor(load.arrivals_s / load.bin_s * (1 + 1e-9));
  std::vector<double> in_flight;
  for (const LoadBin& bin : load.timeline) {
    if (static_cast<double>(in_flight.size()) >= whole_bins) break;
    in_flight.push_back(static_cast<double>(bin.in_flight));
  }
  const auto growth = queue_growth(in_flight);
  if (!growth || !growth->grows) return std::nullopt;
  const double share = growth->growth / static_cast<double>(load.due);
  if (share <= most_growth) return std::nullopt;
  return LoadFinding{
      LoadRule::stationary, share, most_growth, "share",
      fmt::format("the queue grew as long as requests came, from {:.3g} to {:.3g} of them, by {} of all (at most {}): "
                  "these are more requests than the subject can serve",
                  growth->first, growth->last, as_percent(share), as_percent(most_growth))};
}

Found other_answers(const LoadRecord& load) {
  if (load.mismatched > 0) {
    return LoadFinding{LoadRule::outputs, 1, most_different, "share",
                       fmt::format("{} of {} answers that were compared had another shape or type than the answer to "
                                   "one request alone, or no numbers",
                                   load.mismatched, load.checked)};
  }
  if (load.largest_difference <= most_different) return std::nullopt;
  return LoadFinding{
      LoadRule::outputs, load.largest_difference, most_different, "share",
      fmt::format("of {} answers that were compared with the answer to one request alone, one differs by "
                  "{} of the output's largest value (at most {})",
                  load.checked, as_percent(load.largest_difference), as_percent(most_different))};
}

Found given_up(const LoadRecord& load) {
  if (!load.gave_up) return std::nullopt;
  const std::uint64_t ended = load.completed + load.failed;
  const auto waiting = load.due > ended ? load.due - ended : 0;
  return LoadFinding{LoadRule::gave_up, static_cast<double>(waiting), 0, "requests",
                     fmt::format("{} of {} requests were still waiting long after the last arrival, and were given up",
                                 waiting, load.due)};
}

std::optional<LoadShape> shape_of(const Pairs& load) {
  const auto shape = load_shape_from_pairs(load);
  return shape ? std::optional(*shape) : std::nullopt;
}

// p90 of single-stream, that of the objective where a rate is sought, p99 of the others. nullopt: offline, which is
// about throughput.
std::optional<double> percentile_of_scenario(const std::optional<LoadShape>& shape) {
  if (shape && shape->scenario == LoadScenario::offline) return std::nullopt;
  if (shape && shape->find_rate) return shape->find_rate->percentile;
  return shape && shape->scenario == LoadScenario::single_stream ? 0.90 : 0.99;
}

// A ramp, steps and a recorded trace are meant to change, and the queue with them.
bool keeps_its_rate(const std::optional<LoadShape>& shape) { return !shape || !shape->arrivals.has_rates(); }

// How far from its bound; of `enough`, fewer is further.
double how_far(const LoadFinding& finding) {
  return finding.rule == LoadRule::enough ? finding.bound - finding.value : finding.value - finding.bound;
}

struct OfProcesses {
  Found worst;
  std::size_t processes = 0;

  void add(Found found) {
    if (!found) return;
    ++processes;
    if (!worst || how_far(*found) > how_far(*worst)) worst = std::move(found);
  }
};

}  // namespace

std::string_view to_string(LoadRule rule) {
  switch (rule) {
    case LoadRule::rate: return "rate";
    case LoadRule::late: return "late";
    case LoadRule::errors: return "errors";
    case LoadRule::enough: return "enough";
    case LoadRule::stationary: return "stationary";
    case LoadRule::gave_up: return "gave_up";
    case LoadRule::outputs: return "outputs";
  }
  return "";
}

DiagnosticId diagnostic_of(LoadRule rule) {
  switch (rule) {
    case LoadRule::rate: return DiagnosticId::load_rate;
    case LoadRule::late: return DiagnosticId::load_late;
    case LoadRule::errors: return DiagnosticId::load_errors;
    case LoadRule::enough: return DiagnosticId::load_too_few;
    case LoadRule::stationary: return DiagnosticId::load_grows;
    case LoadRule::gave_up: return DiagnosticId::load_gave_up;
    case LoadRule::outputs: break;
  }
  return DiagnosticId::load_outputs;
}

const LoadFinding* LoadValidity::finding(LoadRule rule) const {
  const auto found = std::ranges::find(findings, rule, &LoadFinding::rule);
  return found == findings.end() ? nullptr : &*found;
}

LoadFigureState LoadValidity::state_of(std::string_view figure) const {
  if (is_offline && counts_from_arrival(figure)) return LoadFigureState::at_once;
  const LoadFigure* known = load_figure(figure);
  if (known == nullptr || known->percentile == 0) return LoadFigureState::determined;
  return requests < static_cast<std::uint64_t>(requests_needed(known->percentile)) ? LoadFigureState::too_few
                                                                                   : LoadFigureState::determined;
}

std::string LoadValidity::why_no_figure(std::string_view figure) const {
  switch (state_of(figure)) {
    case LoadFigureState::at_once: return "all requests came at once";
    case LoadFigureState::too_few:
      return fmt::format("needs {} requests in each process", requests_needed(load_figure(figure)->percentile));
    case LoadFigureState::determined: break;
  }
  return "";
}

bool LoadValidity::is_overloaded() const {
  return finding(LoadRule::stationary) != nullptr || finding(LoadRule::gave_up) != nullptr;
}

bool counts_from_arrival(std::string_view figure) {
  return figure.starts_with("response_") || figure.starts_with("lag_") || figure.starts_with("ttft_");
}

std::optional<LoadValidity> judge_load(const Pairs& load, std::span<const Samples> trials) {
  std::array<OfProcesses, 7> rules;
  const auto at = [&](LoadRule rule) -> OfProcesses& { return rules.at(static_cast<std::size_t>(rule)); };
  const auto shape = shape_of(load);
  const bool offline = shape && shape->scenario == LoadScenario::offline;
  std::size_t processes = 0;
  std::uint64_t fewest = std::numeric_limits<std::uint64_t>::max();
  for (const Samples& trial : trials) {
    if (!trial.load) continue;
    ++processes;
    fewest = std::min(fewest, trial.load->completed);
    if (!offline) at(LoadRule::rate).add(missed_rate(*trial.load));
    if (!offline) at(LoadRule::late).add(too_late(*trial.load));
    at(LoadRule::errors).add(failed_requests(*trial.load));
    at(LoadRule::enough).add(too_few_requests(*trial.load, percentile_of_scenario(shape)));
    if (!offline && keeps_its_rate(shape)) at(LoadRule::stationary).add(growing_queue(*trial.load));
    at(LoadRule::gave_up).add(given_up(*trial.load));
    at(LoadRule::outputs).add(other_answers(*trial.load));
  }
  if (processes == 0) return std::nullopt;
  // A queue comes and goes, and seldom seems to grow where it does not: more than the subject can take is so in most
  // processes.
  if (2 * at(LoadRule::stationary).processes < processes) at(LoadRule::stationary) = {};
  LoadValidity validity{.findings = {}, .requests = fewest, .is_offline = offline};
  for (OfProcesses& rule : rules) {
    if (!rule.worst) continue;
    if (rule.processes < processes) {
      rule.worst->message += fmt::format("; so in {} of {} processes", rule.processes, processes);
    }
    validity.findings.push_back(std::move(*rule.worst));
  }
  return validity;
}

std::vector<Diagnostic> load_diagnostics(const std::optional<LoadValidity>& validity, const std::string& label) {
  std::vector<Diagnostic> diagnostics;
  if (!validity) return diagnostics;
  for (const LoadFinding& finding : validity->findings) {
    diagnostics.push_back({diagnostic_of(finding.rule), finding.message, label});
  }
  return diagnostics;
}

}  // namespace infermeter
