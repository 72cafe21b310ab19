#include "infermeter/verdict/answers/trial_diagnostics.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace infermeter {
namespace {

// How bad it was in this trial, where the record of its noise says so.
double badness(DiagnosticId id, const Samples& trial) {
  const NoiseRecord& noise = trial.noise;
  switch (id) {
    case DiagnosticId::foreign_load: return noise.foreign_cpu.value_or(0);
    case DiagnosticId::steal: return noise.steal.value_or(0);
    case DiagnosticId::throttled: return noise.throttled_s.value_or(0);
    case DiagnosticId::involuntary_switches: return static_cast<double>(noise.involuntary_switches.value_or(0));
    case DiagnosticId::major_faults: return static_cast<double>(noise.major_faults.value_or(0));
    default: return 0;
  }
}

// The message without its figures: "other programs used # % of a core".
std::string pattern(std::string_view message) {
  std::string result;
  for (const char c : message) {
    const bool digit = (c >= '0' && c <= '9') || (c == '.' && !result.empty() && result.back() == '#');
    if (!digit) {
      result += c;
    } else if (result.empty() || result.back() != '#') {
      result += '#';
    }
  }
  return result;
}

// Equal statements of several processes.
struct Statement {
  DiagnosticId id{};
  std::string pattern;
  std::string worst;
  double badness = 0;
  bool differ = false;          // the messages, in their figures
  std::set<const Samples*> by;  // trials

  [[nodiscard]] std::string text(std::size_t trials) const {
    if (trials < 2) return worst;
    // Trials within a program are rounds of one process.
    const std::string_view which = (*by.begin())->host_process.empty() ? "processes" : "rounds";
    const std::string who = by.size() < trials ? fmt::format("in {} of {} {}", by.size(), trials, which)
                            : trials == 2      ? fmt::format("in both {}", which)
                                               : fmt::format("in all {} {}", trials, which);
    return fmt::format("{}: {}{}", who, worst, differ ? " (worst)" : "");
  }
};

void add(std::vector<Statement>& statements, DiagnosticId id, std::string_view message, const Samples& trial) {
  const std::string key = pattern(message);
  auto found = std::ranges::find_if(statements, [&](const Statement& s) { return s.id == id && s.pattern == key; });
  const double bad = badness(id, trial);
  if (found == statements.end()) {
    statements.push_back({id, key, std::string(message), bad, false, {&trial}});
    return;
  }
  found->differ = found->differ || found->worst != message;
  found->by.insert(&trial);
  if (bad > found->badness) {
    found->badness = bad;
    found->worst = message;
  }
}

std::vector<Diagnostic> reported(const std::vector<Statement>& statements, std::size_t trials,
                                 const std::string& label) {
  std::vector<Diagnostic> result;
  result.reserve(statements.size());
  for (const Statement& statement : statements) result.push_back({statement.id, statement.text(trials), label});
  return result;
}

std::string failure_text(const Samples& trial) {
  std::string text(to_string(trial.end));
  if (trial.end == TrialEnd::crashed && trial.signal != 0) text += fmt::format(" by signal {}", trial.signal);
  text += fmt::format(" in phase {}", to_string(trial.phase));
  if (!trial.message.empty()) text += ": " + trial.message;
  return text;
}

}  // namespace

std::vector<Diagnostic> merged_diagnostics(std::span<const Samples> trials, const std::string& label) {
  std::vector<Statement> statements;
  for (const Samples& trial : trials) {
    for (const Diagnostic& diagnostic : trial.diagnostics) {
      const bool named = !diagnostic.about.empty() && diagnostic.about != label;
      const std::string prefix = named ? diagnostic.about + ": " : std::string();
      add(statements, diagnostic.id, prefix + diagnostic.message, trial);
    }
  }
  return reported(statements, trials.size(), label);
}

std::vector<Diagnostic> failures(std::span<const Samples> trials, const std::string& label) {
  std::vector<Statement> statements;
  for (const Samples& trial : trials) {
    if (trial.end == TrialEnd::ok) continue;
    const bool stopped = trial.end == TrialEnd::interrupted;
    add(statements, stopped ? DiagnosticId::trial_interrupted : DiagnosticId::trial_failed,
        stopped ? fmt::format("stopped in phase {}", to_string(trial.phase)) : failure_text(trial), trial);
  }
  for (Statement& statement : statements) statement.differ = false;  // "(worst)" of two crashes says nothing
  return reported(statements, trials.size(), label);
}

}  // namespace infermeter
