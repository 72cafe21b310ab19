#include "infermeter/report/profile_export.hpp"

#include <fmt/format.h>

#include "infermeter/profile/trace_writers.hpp"
#include "infermeter/report/profile_summaries.hpp"
#include "infermeter/report/report.hpp"
#include "infermeter/report/row.hpp"

namespace infermeter {
namespace {

TraceFile whole_trace(const std::vector<ProfiledSubject>& subjects) {
  std::vector<TraceSource> sources;
  for (const ProfiledSubject& subject : subjects) {
    for (const ProfileTrial& trial : subject.trials) {
      sources.push_back({.subject = subject.label, .trial = trial, .stacks = nullptr});
    }
  }
  return trace_of(sources);
}

// What a reader of the pictures has to know of this run's own profiles.
std::string remarks(const TraceFile& trace) {
  std::size_t left_out = 0, from_means = 0;
  for (const TraceProcess& process : trace.processes) {
    left_out += process.left_out;
    from_means += process.from_means ? 1 : 0;
  }
  std::string text;
  if (from_means > 0) {
    text += fmt::format(
        "- Of {} the runtime told sums only: they are drawn as one \"mean iteration\", one operator after the other. "
        "Widths are right, the order is not one that was seen.\n",
        counted(static_cast<std::int64_t>(from_means), "process", "processes"));
  }
  if (left_out > 0) {
    text += fmt::format("- {} had no place on a time line and are left out of the traces.\n",
                        counted(static_cast<std::int64_t>(left_out), "event", "events"));
  }
  return text;
}

constexpr std::string_view kReadMe = R"(
| file | what it is | how to look at it |
|---|---|---|
| `profile.perfetto-trace` | every operator on a time line, with kernel, precision, shapes and nodes | open <https://ui.perfetto.dev> and drop the file there: it stays on your computer. W and S zoom, A and D move, a click tells all of an operator; SQL: `select name, count(*), sum(dur) / 1e6 as ms from slice group by name order by ms desc` |
| `profile.chrome.json` | the same in Chrome's Trace Event Format, that of torch.profiler's `*.pt.trace.json` | `chrome://tracing` (Load), Perfetto, and tools that read such traces; TensorBoard's own view of them is gone |
| `profile.speedscope.json` | the same as flame charts, a profile per thread | <https://www.speedscope.app>, or offline: `npx speedscope profile.speedscope.json`. "Left Heavy" adds up equal operators, "Sandwich" lists them |
| `profile.collapsed.txt` | own time in microseconds per stack `subject;iteration;kind;operator` | `flamegraph.pl --countname us profile.collapsed.txt > profile.svg`, or inferno, or speedscope |
| `summary_by_time.txt` | operators, slowest first | any editor |
| `summary_by_memory.txt` | what operators hold, largest first; memory of the worker process | any editor |
| `breakdown.txt` | by kind, kernel, precision and layout; then every operator in execution order | any editor |

What to know:

- Profiles come from processes of their own: recording takes time, so no speed in the report is from them.
- In traces every process begins at 0, so that they stand one below the other.
- Operators that overlap without lying in each other are on a row of their own, "overlapping".
- Traces and stacks hold every iteration; the texts are means of the faster half of each process's iterations.
)";

std::string read_me(const RunRecord& record, const TraceFile& trace) {
  return fmt::format("# Profiles of run {}\n", printable(record.id, 100)) + std::string(kReadMe) + remarks(trace);
}

std::vector<ProfileExport> files_of(const RunRecord& record, const std::vector<ProfiledSubject>& subjects) {
  const TraceFile trace = whole_trace(subjects);
  return {{"profile.perfetto-trace", perfetto_trace(trace)},
          {"profile.chrome.json", chrome_trace(trace)},
          {"profile.speedscope.json", speedscope_profile(trace)},
          {"profile.collapsed.txt", collapsed_stacks(trace)},
          {"summary_by_time.txt", summary_by_time(subjects)},
          {"summary_by_memory.txt", summary_by_memory(subjects)},
          {"breakdown.txt", profile_breakdown(subjects)},
          {"README.md", read_me(record, trace)}};
}

}  // namespace

std::vector<std::string> profile_export_names() {
  std::vector<std::string> names;
  for (const ProfileExport& file : files_of({}, {})) names.push_back(file.name);
  return names;
}

Result<std::vector<ProfileExport>> export_profiles(const RunRecord& record) {
  const std::vector<ProfiledSubject> subjects = profiled_subjects(record);
  if (subjects.empty()) {
    return usage_error(fmt::format("run {} has no profile of operators: infermeter run --profile makes them",
                                   printable(record.id, 100)));
  }
  return files_of(record, subjects);
}

}  // namespace infermeter
