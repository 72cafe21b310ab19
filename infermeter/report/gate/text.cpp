#include "infermeter/report/gate/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <vector>

#include "infermeter/report/numbers/format.hpp"
#include "infermeter/report/numbers/interval_text.hpp"
#include "infermeter/report/numbers/number_text.hpp"
#include "infermeter/text/quoted.hpp"
#include "infermeter/verdict/answers/gate_answers.hpp"

namespace infermeter {
namespace {

std::string format_decibels(double decibels) {
  return std::isinf(decibels) ? "infinite" : three_digits(decibels) + " dB";
}

const Expectation& expectation_of(const Gate& gate, const ExpectationVerdict& verdict) {
  return gate.expectations.at(verdict.expectation);
}

}  // namespace

FigureText figures_in(Dimension dimension) {
  switch (dimension) {
    case Dimension::number: return plain_number;
    case Dimension::seconds: return format_time;
    case Dimension::bytes: return format_bytes;
    case Dimension::per_second: return format_rate;
    case Dimension::factor: return format_ratio;
    case Dimension::share: return format_share;
    case Dimension::decibels: return format_decibels;
  }
  return plain_number;
}

std::string outcome_text(Outcome outcome) {
  switch (outcome) {
    case Outcome::pass: return "✓ pass";
    case Outcome::fail: return "✗ FAIL";
    case Outcome::inconclusive: return "? inconclusive";
  }
  return "";
}

std::string expectation_text(const Gate& gate, const ExpectationVerdict& verdict) {
  return printable(expectation_of(gate, verdict).source.text, 200);
}

std::string subject_text(const RunRecord& record, const ExpectationVerdict& verdict) {
  return printable(record.plan.subjects.at(static_cast<std::size_t>(verdict.subject)).label, 200);
}

std::string value_text(const Gate& gate, const ExpectationVerdict& verdict) {
  if (!verdict.value) return "–";
  const Expectation& expectation = expectation_of(gate, verdict);
  const bool shows_interval = !verdict.exact && verdict.interval;
  const std::string text = with_interval(*verdict.value, shows_interval ? verdict.interval : std::nullopt,
                                         figures_in(expectation.dimension));
  return expectation.kind == Expectation::Kind::no_leak ? text + " an iteration" : text;
}

std::string n_text(const ExpectationVerdict& verdict) {
  if (verdict.n_of.empty() || verdict.n == 0) return "";
  std::string what = printable(verdict.n_of, 40);
  if (verdict.n == 1) what.erase(what.size() - (what == "processes" ? 2 : 1));
  return fmt::format("{} {}", verdict.n, what);
}

std::string why_text(const Gate& gate, const ExpectationVerdict& verdict) {
  std::vector<std::string> parts;
  if (verdict.value) parts.push_back(value_text(gate, verdict));
  std::string made_of = n_text(verdict);
  const bool counts_processes = verdict.n_of == "iterations" || verdict.n_of == "runs";
  if (!made_of.empty() && counts_processes) {
    made_of += fmt::format(" in {} {}", verdict.processes, verdict.processes == 1 ? "process" : "processes");
  }
  if (!made_of.empty()) parts.push_back(std::move(made_of));
  const std::string reason = printable(verdict.reason, 1000);
  return parts.empty() ? reason : fmt::format("{}: {}", fmt::join(parts, ", "), reason);
}

std::string counts_text(const GateVerdict& verdict) {
  std::vector<std::string> parts;
  const auto add = [&](int count, const char* what) {
    if (count > 0) parts.push_back(fmt::format("{} {}", count, what));
  };
  add(verdict.passed, "passed");
  add(verdict.failed, "FAILED");
  add(verdict.inconclusive, "inconclusive");
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::vector<WordedAnswer> worded_answers(const RunRecord& record, const Gate& gate, const GateVerdict& verdict) {
  std::vector<WordedAnswer> worded;
  for (const Answer& answer : gate_answers(gate, verdict)) {
    if (!answer.place) {
      worded.push_back({answer, fmt::format("{}: {}", printable(gate.name, 200), counts_text(verdict))});
      continue;
    }
    const ExpectationVerdict& one = verdict.verdicts.at(*answer.place);
    worded.push_back({answer, fmt::format("{}, {}: {}", expectation_text(gate, one), subject_text(record, one),
                                          why_text(gate, one))});
  }
  return worded;
}

std::string baseline_text(const GateVerdict& verdict) {
  if (verdict.baseline_run.empty()) return {};
  return fmt::format("baseline '{}': run {}", printable(verdict.baseline_name, 100),
                     printable(verdict.baseline_run, 60));
}

}  // namespace infermeter
