#include "infermeter/importing/times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "infermeter/importing/imported_record.hpp"
#include "infermeter/importing/profiles.hpp"
#include "infermeter/importing/request_trial.hpp"
#include "infermeter/importing/times_file.hpp"
#include "infermeter/importing/unpacked_file.hpp"
#include "infermeter/plan/imported.hpp"
#include "infermeter/text/quoted.hpp"

namespace infermeter {
namespace {

constexpr std::size_t kLongestName = 200;

struct TimedProcess {
  std::string file;
  std::vector<double> times;
  std::vector<TimedRequest> requests;  // instead of times
};

// What is measured under one name, by all files of a subject of the request.
struct TimedSubject {
  std::string source;  // the label of the request
  std::string name;
  TimesFormat format{};
  std::vector<TimedProcess> processes;
  int in_flight = 1;  // most requests at once
};

class TimesImporter {
 public:
  explicit TimesImporter(const ImportRequest& request) : request_(request), record_(begun_import(request)) {}

  Result<RunRecord> operator()() {
    for (const ImportSubject& subject : request_.subjects) {
      for (const std::string& file : subject.files) INFERMETER_TRY_DONE(read(subject.label, file));
    }
    name_and_group();
    for (TimedSubject& subject : subjects_) add_trials(subject);
    note_what_is_unknown();
    record_.finished = true;
    return std::move(record_);
  }

 private:
  Result<Done> read(const std::string& label, const std::string& path) {
    INFERMETER_TRY(const std::string bytes, read_unpacked(path, kMostProfileBytes));
    const auto format = format_of_times(bytes);
    if (!format) {
      return usage_error(
          fmt::format("{}: it has no times that are read, which the first file has: import times and profiles apart",
                      in_quotes(path)));
    }
    auto found = read_times(bytes, *format);
    if (!found.ok()) return Error{found.error().kind, fmt::format("{}: {}", in_quotes(path), found.error().message)};
    for (BenchmarkTimes& benchmark : found->benchmarks) add(label, path, *format, std::move(benchmark));
    if (!found->note.empty()) {
      record_.diagnostics.push_back(
          {DiagnosticId::import_cut, fmt::format("{}: {}", in_quotes(path), found->note), label});
    }
    return Done{};
  }

  void add(const std::string& label, const std::string& path, TimesFormat format, BenchmarkTimes benchmark) {
    const std::string name = printable(benchmark.name, std::string::npos);  // shortened where it is shown
    auto place = std::ranges::find_if(subjects_,
                                      [&](const TimedSubject& one) { return one.source == label && one.name == name; });
    if (place == subjects_.end()) {
      place = subjects_.insert(place, {.source = label, .name = name, .format = format, .processes = {}});
    }
    for (auto& times : benchmark.processes) place->processes.push_back({path, std::move(times), {}});
    if (benchmark.requests.empty()) return;
    place->in_flight = std::max(place->in_flight, most_in_flight(benchmark.requests));
    place->processes.push_back({path, {}, std::move(benchmark.requests)});
  }

  // The label of a source says which of several it is; of one source the names do.
  [[nodiscard]] std::string label_of(const TimedSubject& subject) const {
    const bool several = request_.subjects.size() > 1;
    const auto of_source = std::ranges::count(subjects_, subject.source, &TimedSubject::source);
    const std::string name = printable(subject.name, kLongestName);
    if (several && of_source > 1) return fmt::format("{}: {}", subject.source, name);
    return several || name.empty() ? subject.source : name;
  }

  void name_and_group() {
    // Those of one source are compared where the tool compares them; of several, those of one name.
    const bool several = request_.subjects.size() > 1;
    const bool one_name_each = std::ranges::all_of(request_.subjects, [&](const ImportSubject& source) {
      return std::ranges::count(subjects_, source.label, &TimedSubject::source) == 1;
    });
    std::map<std::string, int> groups;
    std::set<std::string> labels;
    for (const TimedSubject& subject : subjects_) {
      const bool all_together = several ? one_name_each : subject.format == TimesFormat::hyperfine;
      const int group =
          groups.try_emplace(all_together ? "" : subject.name, static_cast<int>(groups.size())).first->second;
      std::string label = label_of(subject);
      for (int copy = 2; !labels.insert(label).second; ++copy) label = fmt::format("{}#{}", label_of(subject), copy);
      Subject described{
          .label = label,
          .model = all_together || subject.name.empty() ? subject.source : printable(subject.name, kLongestName),
          .backend = std::string(kImportedBackend)};
      described.group = group;
      if (subject.in_flight > 1) described.load = {{"concurrency", std::to_string(subject.in_flight)}};
      record_.plan.subjects.push_back(std::move(described));
      record_.models.emplace_back();
      record_.plan.processes = std::max(record_.plan.processes, static_cast<int>(subject.processes.size()));
    }
  }

  // As if one came after the other: when each began is not reported.
  static void fill_from_times(Samples& trial, const std::vector<double>& times) {
    double now = 0;
    for (const double time : times) {
      trial.begin_s.push_back(now);
      trial.end_s.push_back(now += time);
    }
    trial.wall_s = now;
  }

  void add_trials(TimedSubject& subject) {
    const auto index = static_cast<int>(&subject - subjects_.data());
    for (std::size_t process = 0; process < subject.processes.size(); ++process) {
      Samples trial;
      trial.subject = index;
      trial.process = static_cast<int>(process);
      trial.position = static_cast<int>(record_.trials.size());
      trial.phase = Phase::done;
      trial.started_at = record_.created_at;  // when it was imported: when it ran is not reported
      trial.executed = {{"imported", printable(subject.processes[process].file)},
                        {"runtime", std::string(name_of(subject.format))}};
      const auto& [file, times, requests] = subject.processes[process];
      if (requests.empty()) fill_from_times(trial, times);
      if (!requests.empty()) fill_from_requests(trial, requests, subject.in_flight);
      auto& iterations = record_.plan.stopping.iterations;
      iterations = std::max(iterations.value_or(1), static_cast<std::int64_t>(trial.iterations()));
      record_.trials.push_back(std::move(trial));
    }
  }

  void note_what_is_unknown() {
    for (const TimedSubject& subject : subjects_) {
      if (subject.in_flight == 1) continue;
      record_.diagnostics.push_back(
          {DiagnosticId::times_imported,
           fmt::format(
               "{} requests were in flight at once, and when each was due is not reported: response times begin "
               "where a request was sent, so that what waited to be sent is not in them",
               subject.in_flight),
           record_.plan.subjects[static_cast<std::size_t>(&subject - subjects_.data())].label});
    }
    std::map<int, int> sizes;
    for (const Subject& subject : record_.plan.subjects) ++sizes[subject.group];
    if (std::ranges::none_of(sizes, [](const auto& group) { return group.second > 1; })) return;
    record_.diagnostics.push_back({DiagnosticId::times_imported,
                                   "it is unknown whether the subjects took turns: what changed on the machine "
                                   "meanwhile looks like a difference",
                                   ""});
  }

  const ImportRequest& request_;
  RunRecord record_;
  std::vector<TimedSubject> subjects_;
};

}  // namespace

Result<RunRecord> import_times(const ImportRequest& request) {
  if (!request.model.empty())
    return usage_error("--model: times have no operators that nodes of a model would be given to");
  INFERMETER_TRY(RunRecord record, TimesImporter(request)());
  INFERMETER_TRY_DONE(keep_import(record));
  return record;
}

Result<RunRecord> import_files(const ImportRequest& request) {
  INFERMETER_TRY(const std::string bytes, read_unpacked(request.subjects.front().files.front(), kMostProfileBytes));
  return format_of_times(bytes) ? import_times(request) : import_profiles(request);
}

}  // namespace infermeter
