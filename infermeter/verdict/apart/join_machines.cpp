#include "infermeter/verdict/apart/join_machines.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "infermeter/samples/node_facts.hpp"
#include "infermeter/text/quoted.hpp"
#include "infermeter/verdict/across_runs.hpp"
#include "infermeter/verdict/apart/join_runs.hpp"
#include "infermeter/verdict/rounds/blocks.hpp"
#include "infermeter/verdict/rounds/rounds.hpp"

namespace infermeter {
namespace {

struct OneMachine {
  const RunRecord* run = nullptr;
  std::string host;
  std::string fingerprint;
  bool is_node = false;  // of several of its run: only its trials are taken

  [[nodiscard]] bool is_same(const OneMachine& other) const {
    return host == other.host && fingerprint == other.fingerprint;
  }
  [[nodiscard]] Environment environment() const {
    const auto& nodes = run->environment.nodes;
    const auto node = std::ranges::find(nodes, host, &Environment::hostname);
    Environment own = is_node && node != nodes.end() ? *node : run->environment;
    own.nodes.clear();
    own.hostname = host;
    return own;
  }
};

std::vector<OneMachine> machines_of_run(const RunRecord& run) {
  std::map<std::string, std::string> nodes;  // and their fingerprints
  for (const Samples& trial : run.trials)
    if (const std::string node = trial.executed_value(kNodeKey); !node.empty())
      nodes.emplace(node, trial.executed_value(kMachineKey));
  std::vector<OneMachine> machines;
  for (const auto& [node, fingerprint] : nodes)
    machines.push_back({.run = &run, .host = node, .fingerprint = fingerprint, .is_node = true});
  if (!machines.empty()) return machines;
  const std::string fingerprint = machine_fingerprint(run.environment);
  const std::string& host = run.environment.hostname;
  return {{.run = &run, .host = host.empty() ? fingerprint : host, .fingerprint = fingerprint}};
}

Result<std::vector<OneMachine>> machines_of_runs(std::span<const RunRecord> runs) {
  std::vector<OneMachine> machines;
  for (const RunRecord& run : runs) {
    for (OneMachine& machine : machines_of_run(run)) {
      const auto same = std::ranges::find_if(machines, [&](const OneMachine& other) { return machine.is_same(other); });
      if (same != machines.end())
        return usage_error(fmt::format("the runs {} and {} are both of the machine {}: name one of them", same->run->id,
                                       run.id, in_quotes(machine.host)));
      machines.push_back(std::move(machine));
    }
  }
  if (machines.size() < 2)
    return usage_error(fmt::format(
        "there is one machine, {}: machines are compared over runs of several, or over a run on several nodes "
        "(--on slurm)",
        machines.empty() ? "none" : in_quotes(machines.front().host)));
  return machines;
}

// Of the first run's subject, in each machine's run; empty: not all of them have it.
std::vector<int> subject_on_all(const std::vector<OneMachine>& machines, int subject) {
  const RunRecord& first = *machines.front().run;
  std::vector<int> found;
  for (const OneMachine& machine : machines) {
    const bool only = first.plan.subjects.size() == 1 && machine.run->plan.subjects.size() == 1;
    const auto same = machine.run == &first ? std::optional(subject)
                      : only                ? std::optional(0)
                                            : same_subject(first, subject, *machine.run);
    if (!same) return {};
    found.push_back(*same);
  }
  return found;
}

void add_subject_on(RunRecord& joined, const OneMachine& machine, int subject, int group) {
  const int index = static_cast<int>(joined.plan.subjects.size());
  const auto own = static_cast<std::size_t>(subject);
  Subject there = machine.run->plan.subjects.at(own);
  there.label = fmt::format("{} on {}", there.label, machine.host);
  there.group = group;
  joined.plan.subjects.push_back(std::move(there));
  joined.models.push_back(own < machine.run->models.size() ? machine.run->models[own] : ModelFacts{});
  for (Samples trial : trials_of(*machine.run, subject)) {
    if (machine.is_node && trial.executed_value(kNodeKey) != machine.host) continue;
    trial.subject = index;
    trial.position = static_cast<int>(joined.trials.size());
    joined.trials.push_back(std::move(trial));
  }
}

RunRecord begin_joined(const std::vector<OneMachine>& machines, std::span<const RunRecord> runs,
                       const Question& question) {
  const RunRecord& last = runs.back();
  std::vector<std::string> ids;
  for (const RunRecord& run : runs) ids.push_back(run.id);
  RunRecord joined;
  joined.id = fmt::format("{}", fmt::join(ids, " and "));
  joined.created_at = last.created_at;
  joined.finished = std::ranges::all_of(runs, &RunRecord::finished);
  joined.plan = last.plan;
  joined.plan.subjects.clear();
  joined.plan.order.clear();
  joined.plan.automatic = {};
  joined.plan.repeat_disturbed = 0;  // what was set aside is not taken
  joined.plan.tuning.reset();
  joined.plan.question = question;
  joined.environment = machines.front().environment();
  for (const OneMachine& machine : machines) joined.environment.nodes.push_back(machine.environment());
  return joined;
}

}  // namespace

Result<RunRecord> join_machines(std::span<const RunRecord> runs, const Question& question) {
  INFERMETER_TRY(const std::vector<OneMachine> machines, machines_of_runs(runs));
  RunRecord joined = begin_joined(machines, runs, question);
  const RunRecord& first = runs.front();
  int group = 0;
  std::vector<std::string> unmatched;
  for (int subject = 0; subject < static_cast<int>(first.plan.subjects.size()); ++subject) {
    const std::vector<int> found = subject_on_all(machines, subject);
    if (found.empty()) {
      unmatched.push_back(first.plan.subjects[static_cast<std::size_t>(subject)].label);
      continue;
    }
    const int baseline = static_cast<int>(joined.plan.subjects.size());
    for (std::size_t i = 0; i < machines.size(); ++i) {
      add_subject_on(joined, machines[i], found[i], group);
      if (i > 0) compare_digests(joined, baseline, baseline + static_cast<int>(i));
    }
    ++group;
  }
  if (group == 0) return usage_error(fmt::format("no subject of run {} was measured on all of the machines", first.id));
  for (const OneMachine& machine : machines) {
    joined.joined.push_back({.id = machine.run->id,
                             .created_at = machine.run->created_at,
                             .machine = machine.fingerprint,
                             .level = level_of_rounds(*machine.run),
                             .unmatched = machine.run == &first ? unmatched : std::vector<std::string>{},
                             .host = machine.host});
  }
  return joined;
}

}  // namespace infermeter
