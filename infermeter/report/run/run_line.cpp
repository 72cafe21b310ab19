#include "infermeter/report/run/run_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "infermeter/plan/imported.hpp"
#include "infermeter/report/numbers/format.hpp"
#include "infermeter/report/run/row.hpp"
#include "infermeter/text/counts.hpp"
#include "infermeter/text/quoted.hpp"
#include "infermeter/verdict/judge.hpp"
#include "infermeter/verdict/rounds/blocks.hpp"
#include "infermeter/verdict/sandbox_in_force.hpp"

namespace infermeter {

namespace {

std::string range(std::size_t low, std::size_t high) {
  return low == high ? std::to_string(low) : fmt::format("{}–{}", low, high);
}

constexpr const char* kAutomatic = "automatic";  // no trial ended, so that nothing is known

// What trials really had, where it was not asked for.
template <class Count>
std::string trial_counts(const RunRecord& record, Count count) {
  std::size_t low = SIZE_MAX, high = 0;
  for (const Samples& trial : record.trials) {
    if (trial.end != TrialEnd::ok) continue;
    low = std::min(low, static_cast<std::size_t>(count(trial)));
    high = std::max(high, static_cast<std::size_t>(count(trial)));
  }
  return low > high ? kAutomatic : range(low, high);
}

std::string length(const RunRecord& record) {
  const Plan& plan = record.plan;
  if (plan.automatic.iterations) {
    return trial_counts(record, [](const Samples& t) { return t.iterations(); }) + " iterations";
  }
  if (plan.stopping.iterations) return counted(*plan.stopping.iterations, "iteration", "iterations");
  return format_duration(plan.stopping.duration_s.value_or(0)) + " of iterations";
}

std::string warmup(const RunRecord& record) {
  if (record.plan.stopping.count_first) return ", the first counted";
  const std::string count = record.plan.automatic.warmup
                                ? trial_counts(record, [](const Samples& t) { return t.warmups(); })
                                : std::to_string(record.plan.stopping.warmup);
  return fmt::format(" after {}{} warm-up", count, count == kAutomatic ? "" : " of");
}

std::string processes(const RunRecord& record) {
  const Plan& plan = record.plan;
  const auto is_round = [](const Samples& trial) { return !trial.host_process.empty(); };
  if (!record.trials.empty() && std::ranges::all_of(record.trials, is_round)) {
    const int rounds = plan.automatic.processes ? complete_blocks(record) : plan.processes;
    return counted(rounds, "round", "rounds") + " each in one process";
  }
  if (plan.tuning) return counted(std::ssize(record.trials), "process", "processes") + " in all";
  if (plan.automatic.processes) return counted(complete_blocks(record), "process", "processes") + " each";
  if (!plan.question) return counted(plan.processes, "process", "processes") + " each";
  return fmt::format("{} of at most {}", counted(complete_blocks(record), "pair", "pairs"), plan.processes);
}

std::string sandbox(const RunRecord& record) {
  std::vector<Diagnostic> diagnostics;
  for (const Samples& trial : record.trials) {
    if (!trial.host_process.empty()) return "no sandbox";
    diagnostics.insert(diagnostics.end(), trial.diagnostics.begin(), trial.diagnostics.end());
  }
  return "sandbox " + sandbox_in_force(record.plan.sandbox, diagnostics);
}

// "NVIDIA H100 (cuda)": devices of their own that subjects ran on, by the names that their runtimes report.
std::vector<std::string> devices(const RunRecord& record) {
  std::vector<std::string> found;
  for (const Samples& trial : record.trials) {
    const auto name = std::ranges::find(trial.executed, "device_name", &std::pair<std::string, std::string>::first);
    if (name == trial.executed.end() || name->second.empty()) continue;
    const auto kind = std::ranges::find(trial.executed, "device", &std::pair<std::string, std::string>::first);
    const bool is_reported = kind != trial.executed.end() && !kind->second.empty();
    std::string text =
        printable(name->second, 80) + (is_reported ? fmt::format(" ({})", printable(kind->second, 40)) : "");
    if (std::ranges::find(found, text) == found.end()) found.push_back(std::move(text));
  }
  return found;
}

}  // namespace

std::string run_line(const RunRecord& record) {
  const Plan& plan = record.plan;
  if (is_imported(plan)) {
    const std::string from = record.trials.empty() ? counted(std::ssize(record.side_trials), "profile", "profiles")
                                                   : counted(std::ssize(record.trials), "process", "processes");
    return fmt::format("infermeter {}: {} from {} that other tools {}; the machine is not known",
                       printable(record.id, 60), counted(std::ssize(plan.subjects), "subject", "subjects"), from,
                       record.trials.empty() ? "wrote" : "measured");
  }
  if (!record.joined.empty()) {
    return fmt::format("infermeter: run {} against run {}, {} each; not interleaved",
                       printable(record.joined.back().id, 60), printable(record.joined.front().id, 60),
                       counted(static_cast<std::int64_t>(plan.subjects.size() / 2), "subject", "subjects"));
  }
  const bool chosen = plan.automatic.iterations || plan.automatic.warmup;
  return fmt::format("infermeter {}: {}, {}, {}{}{}, seed {}, {}", printable(record.id, 60),
                     counted(static_cast<std::int64_t>(plan.subjects.size()), "subject", "subjects"), processes(record),
                     length(record), warmup(record), chosen ? " (from pilots)" : "", plan.seed.value_or(0),
                     sandbox(record));
}

std::string machine_line(const RunRecord& record) {
  const Environment& environment = record.environment;
  std::vector<std::string> parts = devices(record);
  if (!environment.processor.empty()) parts.push_back(printable(environment.processor, 80));
  if (environment.processors_online > 0) {
    parts.push_back(fmt::format("{} of {} processors", environment.processors_usable, environment.processors_online));
  }
  if (environment.memory_total_bytes > 0) {
    parts.push_back(format_bytes(static_cast<double>(environment.memory_total_bytes)) + " memory");
  }
  if (!environment.distribution.empty()) parts.push_back(printable(environment.distribution, 80));
  if (!environment.kernel.empty()) parts.push_back("kernel " + printable(environment.kernel, 80));
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace infermeter
