#include "infermeter/report/forms/tensorboard.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "infermeter/profile/write/trace_writers.hpp"
#include "infermeter/report/forms/event_file.hpp"
#include "infermeter/report/profile/summaries.hpp"
#include "infermeter/stats/summary/summary.hpp"
#include "infermeter/text/quoted.hpp"
#include "infermeter/verdict/judge.hpp"

namespace infermeter {
namespace {

constexpr std::size_t most_iterations_drawn = 1000;  // of a process
constexpr std::string_view pictures_folder = "pictures";

// What every file system takes, and no path of several parts.
std::string folder_name(std::string_view label) {
  constexpr std::size_t longest = 100;
  std::string name;
  for (const char c : label.substr(0, longest)) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("_-.=,@%+").find(c) != std::string_view::npos;
    name += plain ? c : '_';
  }
  return name.empty() || name.front() == '.' ? "_" + name : name;
}

// A folder for each label, whatever characters it has.
class Folders {
 public:
  const std::string& of(const std::string& label) {
    const auto known = folders_.find(label);
    if (known != folders_.end()) return known->second;
    std::string name = folder_name(label);
    for (int number = 2; taken_.contains(name); ++number) name = fmt::format("{}_{}", folder_name(label), number);
    taken_.insert(name);
    return folders_.emplace(label, std::move(name)).first->second;
  }

 private:
  std::map<std::string, std::string> folders_;
  std::set<std::string> taken_{std::string(pictures_folder)};
};

struct Scale {
  std::string_view unit, suffix;
  double factor;
};
constexpr std::array scales = {Scale{"s", "_ms", 1e3}, Scale{"bytes", "_mb", 1e-6}, Scale{"items/s", "_ips", 1}};

void add_metrics(EventFile& events, const SubjectVerdict& subject, std::int64_t step) {
  for (const Metric& metric : subject.summary.metrics) {
    if (!metric.estimate.value) continue;
    const auto* const scale = std::ranges::find(scales, metric.unit, &Scale::unit);
    const bool known = scale != scales.end();
    events.scalar(fmt::format("figures/{}{}", metric.name, known ? scale->suffix : ""), step,
                  *metric.estimate.value * (known ? scale->factor : 1));
  }
  for (const CounterSummary& counter : subject.summary.counters) {
    if (is_determined(subject, counter))
      events.scalar("counters/" + printable(counter.name, 100), step, *counter.estimate.value);
  }
}

void add_comparison_figures(EventFile& events, const SubjectVerdict& verdict, std::int64_t step) {
  for (const Ratio& ratio : verdict.ratios) {
    if (ratio.estimate.value) events.scalar("speedup/" + ratio.metric, step, *ratio.estimate.value);
  }
  if (verdict.outputs == nullptr) return;
  for (const OutputDifference& output : verdict.outputs->comparison.outputs) {
    const auto add = [&](std::string_view what, const std::optional<double>& value) {
      if (value) events.scalar(fmt::format("outputs/{}/{}", printable(output.name, 100), what), step, *value);
    };
    add("max_abs", output.max_absolute);
    add("relative_l2", output.relative_l2);
    add("psnr_db", output.psnr_db);
    add("ssim", output.ssim);
  }
}

std::vector<double> milliseconds(const Samples& trial) {
  std::vector<double> values = latencies_s(trial);
  for (double& value : values) value *= 1e3;
  return values;
}

void add_iterations(EventFile& events, const Samples& trial, const std::vector<double>& values) {
  const std::size_t stride =
      std::max<std::size_t>(1, (values.size() + most_iterations_drawn - 1) / most_iterations_drawn);
  const std::string tag = fmt::format("iterations/process_{}_ms", trial.process + 1);
  for (std::size_t i = 0; i < values.size(); i += stride) events.scalar(tag, static_cast<std::int64_t>(i), values[i]);
}

void add_latencies(EventFile& events, const RunRecord& run, int subject, std::int64_t step, bool is_only_run) {
  std::vector<double> pooled;
  for (const Samples& trial : run.trials) {
    if (trial.subject != subject) continue;
    const std::vector<double> values = milliseconds(trial);
    pooled.insert(pooled.end(), values.begin(), values.end());
    if (!is_only_run) continue;
    events.histogram("latency_ms/by_process", trial.process, values);
    add_iterations(events, trial, values);
  }
  events.histogram("latency_ms/all", step, pooled);
}

// One process to a trace: torch-tb-profiler takes each for a worker. That of PyTorch itself where PyTorch ran.
void add_traces(const RunRecord& run, Folders& folders, bool is_only_run, std::vector<ProfileExport>& files) {
  for (const ProfiledSubject& subject : profiled_subjects(run)) {
    for (const ProfileTrial& trial : subject.trials) {
      const TraceSource source{.subject = subject.label, .trial = trial, .stacks = nullptr};
      const std::string before = is_only_run ? "" : folder_name(run.id) + "_";
      const std::string name =
          fmt::format("{}/{}process_{}.pt.trace.json", folders.of(subject.label), before, trial.samples->process + 1);
      const std::string& own = trial.profile->own_trace;
      files.push_back(own.empty() ? ProfileExport{name, chrome_trace(trace_of(std::span(&source, 1)))}
                                  : ProfileExport{name + ".gz", own});
    }
  }
}

std::string event_file_name(double created_at) {
  return fmt::format("events.out.tfevents.{:010}.infermeter", static_cast<std::int64_t>(created_at));
}

}  // namespace

std::vector<ProfileExport> tensorboard_files(std::span<const RunRecord> runs, std::span<const NamedPicture> pictures) {
  std::vector<ProfileExport> files;
  if (runs.empty()) return files;
  const bool is_only_run = runs.size() == 1;
  const double begun = runs.front().created_at;
  Folders folders;
  std::map<std::string, EventFile> events;  // by folder
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const RunRecord& run = runs[i];
    const auto step = static_cast<std::int64_t>(i);
    const Verdict verdict = judge(run);
    for (const SubjectVerdict& subject : verdict.subjects) {
      const std::string& label = run.plan.subjects.at(static_cast<std::size_t>(subject.subject)).label;
      EventFile& file = events.try_emplace(folders.of(label), begun).first->second;
      file.set_wall_time(run.created_at);
      add_metrics(file, subject, step);
      add_comparison_figures(file, subject, step);
      add_latencies(file, run, subject.subject, step, is_only_run);
    }
    add_traces(run, folders, is_only_run, files);
  }
  if (!pictures.empty()) {
    EventFile& file = events.try_emplace(std::string(pictures_folder), begun).first->second;
    for (const NamedPicture& picture : pictures) file.picture(printable(picture.name, 200), 0, picture.bytes);
  }
  for (const auto& [folder, file] : events) files.push_back({folder + "/" + event_file_name(begun), file.bytes()});
  return files;
}

}  // namespace infermeter
