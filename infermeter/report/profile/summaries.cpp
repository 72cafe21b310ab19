#include "infermeter/report/profile/summaries.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

#include "infermeter/report/forms/grid.hpp"
#include "infermeter/report/forms/sentence.hpp"
#include "infermeter/report/numbers/format.hpp"
#include "infermeter/report/numbers/number_text.hpp"
#include "infermeter/report/run/operator_memory.hpp"
#include "infermeter/report/run/row.hpp"
#include "infermeter/text/counts.hpp"
#include "infermeter/text/quoted.hpp"
#include "infermeter/verdict/judge.hpp"

namespace infermeter {
namespace {

constexpr GridLook kLook{.width = 200, .rule = 60, .color = false};
constexpr std::size_t kLongestName = 60;

std::string summary_percent(double share) { return fmt::format("{:.1f} %", share * 100); }
std::string name_of_operator(const ProfiledOperator& op) {
  return op.name.empty() ? "(no name)" : printable(op.name, kLongestName);
}
std::string count_text(double count) { return fmt::format("{:g}", count); }

Cell plain(std::string text) { return {std::move(text), Tone::plain}; }

std::string interval_text(const OperatorTime& time) {
  if (!time.low_s || !time.high_s) return "";
  return fmt::format("[{}, {}]", format_time(*time.low_s), format_time(*time.high_s));
}

// What stands above every table of a subject's.
std::string heading(const ProfiledSubject& subject, const OperatorTable& table) {
  std::string text = fmt::format("{}\n{} of {}, {} per inference\n", printable(subject.label, 300),
                                 counted(static_cast<std::int64_t>(table.operators.size()), "operator", "operators"),
                                 counted(static_cast<std::int64_t>(table.processes), "process", "processes"),
                                 format_time(table.wall_s));
  if (table.clean_p50_s && table.profiled_p50_s) {
    text += fmt::format("p50 {} with profiling, {} without{}\n", format_time(*table.profiled_p50_s),
                        format_time(*table.clean_p50_s),
                        table.distorted ? ": the profile slows it, so read shares and not times" : "");
  }
  if (table.left_out > 0) {
    text += fmt::format("{} had other operators and are left out\n",
                        counted(static_cast<std::int64_t>(table.left_out), "process", "processes"));
  }
  return text + '\n';
}

std::string nothing_reported(const ProfiledSubject& subject) {
  return printable(subject.label, 300) + "\nits profile has no times of operators\n";
}

// Texts of all subjects, one below the other.
template <class Text>
std::string all_subjects(std::span<const ProfiledSubject> subjects, Text&& text_of) {
  std::string text;
  for (const ProfiledSubject& subject : subjects) {
    if (!text.empty()) text += "\n\n";
    const OperatorTable table = operator_table(subject.trials, subject.timed);
    text += table.profile == nullptr ? nothing_reported(subject) : heading(subject, table) + text_of(subject, table);
  }
  return text;
}

// ---- By time ----

std::vector<Cell> time_row(std::string name, std::string kind, const OperatorTime& time) {
  return {plain(std::move(name)),
          plain(std::move(kind)),
          plain(summary_percent(time.share)),
          plain(format_time(time.mean_s)),
          plain(interval_text(time)),
          plain(time.calls > 0 ? count_text(time.calls) : ""),
          plain(time.calls > 0 ? format_time(time.mean_s / time.calls) : ""),
          plain(time.helper_s > 0 ? format_time(time.helper_s) : "")};
}

std::string time_table(const OperatorTable& table) {
  Grid grid{.columns = {{"Operator", Align::left},
                        {"Kind", Align::left},
                        {"Own %", Align::right},
                        {"Own time", Align::right},
                        {"95 % interval", Align::left},
                        {"Calls", Align::right},
                        {"Per call", Align::right},
                        {"Other threads", Align::right}},
            .rows = {}};
  for (const OperatorTime& time : table.operators) {
    const ProfiledOperator& op = table.profile->operators[time.op];
    grid.rows.push_back(time_row(name_of_operator(op), printable(op.kind, 40), time));
  }
  grid.rows.push_back(time_row("(rest)", "between operators", table.rest));
  OperatorTime whole;
  whole.share = 1;
  whole.mean_s = table.wall_s;
  grid.rows.push_back(time_row("(inference)", "", whole));
  return grid_text(grid, kLook);
}

// ---- By memory ----

// The highest of the profiled processes.
std::optional<double> highest(const ProfiledSubject& subject, std::optional<std::uint64_t> MemoryRecord::* member) {
  std::optional<double> result;
  for (const ProfileTrial& trial : subject.trials) {
    const auto& bytes = trial.samples->memory.*member;
    if (bytes) result = std::max(result.value_or(0), static_cast<double>(*bytes));
  }
  return result;
}

std::string process_memory(const ProfiledSubject& subject) {
  constexpr std::pair<const char*, std::optional<std::uint64_t> MemoryRecord::*> kinds[] = {
      {"resident before loading", &MemoryRecord::rss_before_load},
      {"resident after loading", &MemoryRecord::rss_after_load},
      {"highest while loading", &MemoryRecord::rss_peak_load},
      {"highest while running", &MemoryRecord::rss_peak_inference},
      {"proportional after loading", &MemoryRecord::pss_after_load},
      {"proportional after running", &MemoryRecord::pss_after_inference},
      {"on the device, highest", &MemoryRecord::device_peak}};
  std::string text;
  for (const auto& [name, member] : kinds) {
    if (const auto bytes = highest(subject, member)) text += fmt::format("{:<28}{}\n", name, format_bytes(*bytes));
  }
  return text.empty() ? "" : "\nThe worker process, the highest of all profiled ones\n" + text;
}

std::string memory_table(const OperatorTable& table) {
  const Grid grid = memory_grid(*table.profile, table.profile->operators.size(), kLongestName);
  return grid.rows.empty() ? "the runtime reports no memory of single operators\n" : grid_text(grid, kLook);
}

// ---- Breakdown ----

struct Share {
  std::size_t operators = 0;
  OperatorTime time;
};

std::string share_table(const OperatorTable& table, const char* title, std::string ProfiledOperator::* member) {
  std::map<std::string, Share> shares;
  for (const OperatorTime& time : table.operators) {
    Share& share = shares[table.profile->operators[time.op].*member];
    ++share.operators;
    share.time.mean_s += time.mean_s;
    share.time.share += time.share;
    share.time.calls += time.calls;
  }
  if (shares.empty() || (shares.size() == 1 && shares.begin()->first.empty())) return "";
  std::vector<std::pair<std::string, Share>> order(shares.begin(), shares.end());
  std::ranges::stable_sort(order, std::greater{}, [](const auto& pair) { return pair.second.time.mean_s; });
  Grid grid{.columns = {{title, Align::left},
                        {"Operators", Align::right},
                        {"Calls", Align::right},
                        {"Own time", Align::right},
                        {"Own %", Align::right}},
            .rows = {}};
  for (const auto& [name, share] : order) {
    grid.rows.push_back({plain(name.empty() ? "(not reported)" : printable(name, kLongestName)),
                         plain(std::to_string(share.operators)), plain(count_text(share.time.calls)),
                         plain(format_time(share.time.mean_s)), plain(summary_percent(share.time.share))});
  }
  return grid_text(grid, kLook) + '\n';
}

void add_line(std::string& text, const char* name, const std::string& value) {
  if (!value.empty()) text += fmt::format("    {:<12}{}\n", name, value);
}

std::string node_names(const ProfiledOperator& op) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min<std::size_t>(op.nodes.size(), 50); ++i) {
    names.push_back(printable(op.nodes[i], 120));
  }
  std::string text = fmt::format("{}", fmt::join(names, ", "));
  if (op.nodes.size() > names.size()) text += fmt::format(" and {} more", op.nodes.size() - names.size());
  return text.empty() ? "" : fmt::format("{} ({})", text, to_string(op.rule));
}

std::string work_text(const ProfiledOperator& op, const OperatorTime& time) {
  if (!op.flops || *op.flops <= 0) return "";
  std::string text = fmt::format("{} GFLOP", three_digits(*op.flops / 1e9));
  if (time.mean_s > 0) text += fmt::format(", {} GFLOP/s", three_digits(*op.flops / time.mean_s / 1e9));
  if (op.moved_bytes) text += fmt::format(", {} moved", format_bytes(*op.moved_bytes));
  return text;
}

std::string operator_block(const ProfiledOperator& op, const OperatorTime& time, std::size_t number) {
  const std::string kind = op.kind.empty() ? "no kind" : printable(op.kind, 60);
  std::string text = fmt::format("{:>4}  {} ({})\n", number, name_of_operator(op), kind);
  std::string own = fmt::format("{} ({})", format_time(time.mean_s), summary_percent(time.share));
  if (const std::string interval = interval_text(time); !interval.empty()) own += fmt::format(", 95 % {}", interval);
  if (time.calls != 1) own += fmt::format(", {} calls", count_text(time.calls));
  add_line(text, "own time", own);
  if (time.helper_s > 0) add_line(text, "threads", format_time(time.helper_s) + " on other threads");
  add_line(text, "kernel", printable(op.kernel, 200));
  add_line(text, "precision", printable(op.precision, 60));
  add_line(text, "layout", printable(op.layout, 60));
  add_line(text, "shapes", printable(op.shapes, 500));
  add_line(text, "provider", printable(op.provider, 60));
  add_line(text, "work", work_text(op, time));
  add_line(text, "nodes", node_names(op));
  return text;
}

std::string breakdown_text(const OperatorTable& table) {
  std::string text;
  text += share_table(table, "Kind", &ProfiledOperator::kind);
  text += share_table(table, "Kernel", &ProfiledOperator::kernel);
  text += share_table(table, "Precision", &ProfiledOperator::precision);
  text += share_table(table, "Layout", &ProfiledOperator::layout);
  text += share_table(table, "Provider", &ProfiledOperator::provider);
  text += "Operators in execution order\n------------------------------------------------------------\n";
  std::vector<const OperatorTime*> times(table.profile->operators.size());
  for (const OperatorTime& time : table.operators) times[time.op] = &time;
  for (std::size_t op = 0; op < times.size(); ++op) {
    if (times[op] != nullptr) text += operator_block(table.profile->operators[op], *times[op], op + 1);
  }
  return text + fmt::format("      (rest)\n    {:<12}{} ({})\n", "own time", format_time(table.rest.mean_s),
                            summary_percent(table.rest.share));
}

}  // namespace

std::vector<ProfiledSubject> profiled_subjects(const RunRecord& record) {
  std::map<int, ProfiledSubject> subjects;
  for (const Samples& trial : record.side_trials) {
    const bool known = trial.subject >= 0 && static_cast<std::size_t>(trial.subject) < record.plan.subjects.size();
    const auto profile = std::ranges::find(record.profiles, trial.position, &OperatorProfile::position);
    if (trial.purpose != Purpose::profile || !known || profile == record.profiles.end()) continue;
    ProfiledSubject& subject = subjects[trial.subject];
    subject.subject = trial.subject;
    subject.label = record.plan.subjects[static_cast<std::size_t>(trial.subject)].label;
    subject.trials.push_back({.samples = &trial, .profile = &*profile});
  }
  for (const Samples& trial : record.trials) {
    const auto subject = subjects.find(trial.subject);
    if (subject != subjects.end()) subject->second.timed.push_back(&trial);
  }
  std::vector<ProfiledSubject> result;
  for (auto& [index, subject] : subjects) result.push_back(std::move(subject));
  return result;
}

std::string summary_by_time(std::span<const ProfiledSubject> subjects) {
  return "Operators by time\n=================\n"
         "Own time: of the main thread, without operators within it; mean of the faster half of each process's\n"
         "iterations.\n\n" +
         all_subjects(subjects, [](const ProfiledSubject&, const OperatorTable& table) { return time_table(table); });
}

std::string summary_by_memory(std::span<const ProfiledSubject> subjects) {
  return "Operators by memory\n===================\n\n" +
         all_subjects(subjects, [](const ProfiledSubject& subject, const OperatorTable& table) {
           return memory_table(table) + process_memory(subject);
         });
}

std::string profile_breakdown(std::span<const ProfiledSubject> subjects) {
  return "Breakdown of operators\n======================\n\n" +
         all_subjects(subjects,
                      [](const ProfiledSubject&, const OperatorTable& table) { return breakdown_text(table); });
}

}  // namespace infermeter
