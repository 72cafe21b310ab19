#include "infermeter/report/profile/export.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include "infermeter/profile/write/trace_iterations.hpp"
#include "infermeter/profile/write/trace_writers.hpp"
#include "infermeter/report/forms/tensorboard.hpp"
#include "infermeter/report/profile/summaries.hpp"
#include "infermeter/report/run/row.hpp"
#include "infermeter/text/counts.hpp"
#include "infermeter/text/gzip.hpp"
#include "infermeter/text/quoted.hpp"
#include "infermeter/verdict/judge.hpp"

namespace infermeter {
namespace {

const TrialStacks* native_stacks(const RunRecord& record, int position) {
  const auto found = std::ranges::find_if(record.stacks, [position](const TrialStacks& stacks) {
    return stacks.position == position && !stacks.is_python;
  });
  return found == record.stacks.end() ? nullptr : &*found;
}

TraceFile whole_trace(const RunRecord& record, const std::vector<ProfiledSubject>& subjects) {
  std::vector<TraceSource> sources;
  for (const ProfiledSubject& subject : subjects) {
    for (const ProfileTrial& trial : subject.trials) {
      const TrialStacks* stacks = native_stacks(record, trial.samples->position);
      sources.push_back(
          {.subject = subject.label, .trial = trial, .stacks = stacks == nullptr ? nullptr : &stacks->stacks});
    }
  }
  return trace_of(sources);
}

// With the processes that were measured without a profiler, below their subject's profiled ones.
TraceFile with_measured(const RunRecord& record, const TraceFile& profiled) {
  std::vector<MeasuredSource> sources;
  for (const Samples& trial : record.trials) {
    const bool known = trial.subject >= 0 && static_cast<std::size_t>(trial.subject) < record.plan.subjects.size();
    if (!known || trial.iterations() == 0) continue;
    sources.push_back({record.plan.subjects[static_cast<std::size_t>(trial.subject)].label, &trial});
  }
  TraceFile trace = profiled;
  for (TraceProcess& process : measured_processes(sources)) trace.processes.push_back(std::move(process));
  std::ranges::stable_sort(trace.processes, {}, [](const TraceProcess& process) {
    return std::tuple(process.subject_index, process.is_measured, process.number);
  });
  return trace;
}

// The first method of each trial: another one saw the same time.
std::string collapsed_samples(const RunRecord& record, bool is_python) {
  std::vector<StackSource> sources;
  for (const Samples& trial : record.side_trials) {
    const bool known = trial.subject >= 0 && static_cast<std::size_t>(trial.subject) < record.plan.subjects.size();
    if (trial.purpose != Purpose::profile || !known) continue;
    const auto stacks = std::ranges::find_if(record.stacks, [&](const TrialStacks& each) {
      return each.position == trial.position && each.is_python == is_python;
    });
    if (stacks == record.stacks.end()) continue;
    const auto profile = std::ranges::find(record.profiles, trial.position, &OperatorProfile::position);
    sources.push_back({.subject = record.plan.subjects[static_cast<std::size_t>(trial.subject)].label,
                       .trial = {.samples = &trial,
                                 .profile = profile == record.profiles.end() ? nullptr : &*profile,
                                 .stacks = &*stacks}});
  }
  return collapsed_stacks(sources);
}

// What a reader of the pictures has to know of this run's own profiles.
std::string remarks(const TraceFile& trace) {
  std::size_t left_out = 0, not_shown = 0, from_means = 0;
  for (const TraceProcess& process : trace.processes) {
    left_out += process.left_out;
    not_shown += process.not_shown;
    from_means += process.from_means ? 1 : 0;
  }
  std::string text;
  if (from_means > 0) {
    text += fmt::format(
        "- Of {} the runtime reported sums only: they are drawn as one \"mean iteration\", one operator after the "
        "other. "
        "Widths are right, the order is not one that was seen.\n",
        counted(static_cast<std::int64_t>(from_means), "process", "processes"));
  }
  if (left_out > 0) {
    text += fmt::format("- {} had no place on a time line and are left out of the traces.\n",
                        counted(static_cast<std::int64_t>(left_out), "event", "events"));
  }
  if (not_shown > 0) {
    text += fmt::format("- Of processes that were measured the first iterations are shown; {} later ones are not.\n",
                        not_shown);
  }
  return text;
}

// A file and what the README says of it: what it is, and how to look at it.
struct FileKind {
  std::string_view name, what, how;
};

constexpr FileKind kFiles[] = {
    {"profile.perfetto-trace",
     "every operator of profiled processes on a time line, with kernel, precision, shapes and nodes; every iteration, "
     "or request of a load, of measured ones",
     "open <https://ui.perfetto.dev> and drop the file there: it stays on your computer. W and S zoom, A and D move, a "
     "click shows all of an operator; SQL: `select name, count(*), sum(dur) / 1e6 as ms from slice group by name order "
     "by ms desc`"},
    {"trace.json",
     "the same in Chrome's Trace Event Format; of a single process of PyTorch it is what torch.profiler exports itself",
     "`chrome://tracing` (Load), Perfetto, and tools that read such traces"},
    {"tensorboard/",
     "a log folder: figures, histograms of latencies, and a trace per process, of PyTorch that of torch.profiler "
     "itself",
     "`pip install tensorboard torch-tb-profiler`, `tensorboard --logdir tensorboard`; the operators are in the tab "
     "PyTorch Profiler"},
    {"profile.speedscope.json",
     "the same as flame charts, a profile per thread; sampled call stacks where there are any",
     "<https://www.speedscope.app>, or offline: `npx speedscope profile.speedscope.json`. \"Left Heavy\" adds up equal "
     "operators, \"Sandwich\" lists them"},
    {"profile.collapsed.txt", "own time in microseconds per stack `subject;iteration;kind;operator`",
     "`flamegraph.pl --countname us profile.collapsed.txt > profile.svg`, or inferno, or speedscope"},
    {"stacks.collapsed.txt",
     "sampled call stacks: own time in microseconds per stack `subject;thread;kind;operator;function;…`",
     "the same; Perfetto reads it too"},
    {"python.collapsed.txt", "the same of Python's own frames", "the same"},
    {"cpu_time_summary.txt", "operators, slowest first", "any editor"},
    {"memory_summary.txt", "what operators hold, largest first; memory of the worker process", "any editor"},
    {"cuda_memory_summary.txt", "the same, where a subject ran on CUDA, with the device's highest", "any editor"},
    {"detailed_breakdown.txt", "by kind, kernel, precision and layout; then every operator in execution order",
     "any editor"},
};

constexpr std::string_view kToKnow = R"(
What to know:

- Profiles come from processes of their own: recording takes time, so no speed in the report is from them. The
  report's times are those of the measured processes.
- In traces every process begins at 0, so that they stand one below the other.
- Operators that overlap without lying in each other are on a row of their own, "overlapping".
- Traces and stacks hold every iteration; the texts are means of the faster half of each process's iterations.
)";

constexpr std::string_view kStacksToKnow =
    "- Call stacks are samples: a function that is not there ran for less than they can tell. Where they weigh "
    "seconds, these are of a processor, so that waiting is not among them.\n";

std::string read_me(const RunRecord& record, const TraceFile& trace, const std::vector<ProfileExport>& files) {
  std::string text = fmt::format("# Profiles of run {}\n\n| file | what it is | how to look at it |\n|---|---|---|\n",
                                 printable(record.id, 100));
  for (const FileKind& kind : kFiles) {
    const bool is_there = std::ranges::any_of(files, [&](const ProfileExport& file) {
      return file.name == kind.name || (kind.name.ends_with('/') && file.name.starts_with(kind.name));
    });
    if (!is_there) continue;
    text += fmt::format("| `{}` | {} | {} |\n", kind.name, kind.what, kind.how);
  }
  text += kToKnow;
  if (!record.stacks.empty()) text += kStacksToKnow;
  return text + remarks(trace);
}

// Named for CUDA only where there was one.
std::string memory_file(const std::vector<ProfiledSubject>& subjects) {
  const auto is_on_cuda = [](const Samples& trial) {
    return std::ranges::any_of(
        trial.executed, [](const auto& pair) { return pair.first == "device" && pair.second.starts_with("cuda"); });
  };
  for (const ProfiledSubject& subject : subjects) {
    for (const ProfileTrial& trial : subject.trials) {
      if (is_on_cuda(*trial.samples)) return "cuda_memory_summary.txt";
    }
  }
  return "memory_summary.txt";
}

// PyTorch's own, where it is the only process that was profiled; else one of all processes.
std::string trace_json(const std::vector<ProfiledSubject>& subjects, const TraceFile& all) {
  constexpr std::uint64_t most_bytes = std::uint64_t{1} << 30U;
  std::string own;
  if (subjects.size() == 1 && subjects.front().trials.size() == 1 &&
      unpack_gzip(subjects.front().trials.front().profile->own_trace, most_bytes, own) && !own.empty())
    return own;
  return chrome_trace(all);
}

void add_operator_files(const std::vector<ProfiledSubject>& subjects, const TraceFile& trace,
                        std::vector<ProfileExport>& files) {
  if (subjects.empty()) return;
  files.push_back({"profile.speedscope.json", speedscope_profile(trace)});
  files.push_back({"profile.collapsed.txt", collapsed_stacks(trace)});
  files.push_back({"cpu_time_summary.txt", summary_by_time(subjects)});
  files.push_back({memory_file(subjects), summary_by_memory(subjects)});
  files.push_back({"detailed_breakdown.txt", profile_breakdown(subjects)});
}

void add_time_lines(const std::vector<ProfiledSubject>& subjects, const TraceFile& all,
                    std::vector<ProfileExport>& files) {
  if (all.processes.empty()) return;
  files.push_back({"profile.perfetto-trace", perfetto_trace(all)});
  files.push_back({"trace.json", trace_json(subjects, all)});
}

void add_stack_files(const RunRecord& record, std::vector<ProfileExport>& files) {
  for (const auto& [name, is_python] : {std::pair{"stacks.collapsed.txt", false}, {"python.collapsed.txt", true}}) {
    std::string text = collapsed_samples(record, is_python);
    if (!text.empty()) files.push_back({name, std::move(text)});
  }
}

}  // namespace

std::vector<std::string> profile_export_names() {
  std::vector<std::string> names;
  for (const FileKind& kind : kFiles) {
    if (!kind.name.ends_with('/')) names.emplace_back(kind.name);
  }
  names.emplace_back("profiling_summary.txt");
  return names;
}

Result<std::vector<ProfileExport>> export_profiles(const RunRecord& record) {
  const std::vector<ProfiledSubject> subjects = profiled_subjects(record);
  const TraceFile trace = whole_trace(record, subjects);
  const TraceFile all = with_measured(record, trace);
  std::vector<ProfileExport> files;
  add_time_lines(subjects, all, files);
  add_operator_files(subjects, trace, files);
  add_stack_files(record, files);
  if (files.empty()) {
    return usage_error(
        fmt::format("run {} has neither an iteration nor a profile of operators, which infermeter run --profile makes",
                    printable(record.id, 100)));
  }
  if (!subjects.empty()) {
    for (ProfileExport& file : tensorboard_files(std::span(&record, 1))) {
      files.push_back({"tensorboard/" + file.name, std::move(file.bytes)});
    }
  }
  files.push_back({"profiling_summary.txt", read_me(record, all, files)});
  return files;
}

}  // namespace infermeter
