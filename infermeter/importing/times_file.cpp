#include "infermeter/importing/times_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "infermeter/importing/json_members.hpp"
#include "infermeter/profile/read/json_events.hpp"
#include "infermeter/text/counts.hpp"
#include "infermeter/text/quoted.hpp"

namespace infermeter {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kLookedAt = 65'536;  // bytes at a file's beginning, where each format shows itself

struct FormatMarks {
  TimesFormat format;
  char first;
  std::array<std::string_view, 2> keys;  // all of them come
};
constexpr std::array<FormatMarks, 8> format_marks = {{
    {TimesFormat::pytest_benchmark, '{', {"\"machine_info\"", "\"benchmarks\""}},
    {TimesFormat::google_benchmark, '{', {"\"context\"", "\"run_name\""}},
    {TimesFormat::hyperfine, '{', {"\"results\"", "\"command\""}},
    {TimesFormat::criterion, '{', {"\"sampling_mode\"", "\"iters\""}},
    {TimesFormat::perf_analyzer, '{', {"\"experiments\"", "\"requests\""}},
    {TimesFormat::aiperf, '{', {"\"request_start_ns\"", "\"benchmark_phase\""}},
    {TimesFormat::aiperf_statistics, '{', {"\"aiperf_version\"", "\"request_latency\""}},
    {TimesFormat::trtexec, '[', {"\"computeMs\"", "\"latencyMs\""}},
}};

class TimesReader {
 public:
  explicit TimesReader(TimesFormat format) : format_(format) {}

  Result<TimesFile> read(const Json& json) {
    switch (format_) {
      case TimesFormat::hyperfine: hyperfine(json); break;
      case TimesFormat::google_benchmark: google_benchmark(json); break;
      case TimesFormat::criterion: criterion(json); break;
      case TimesFormat::pytest_benchmark: pytest_benchmark(json); break;
      case TimesFormat::perf_analyzer: requests(requests_of_perf_analyzer(json)); break;
      case TimesFormat::trtexec: trtexec(json); break;
      case TimesFormat::aiperf: break;  // is no JSON as a whole
      case TimesFormat::aiperf_statistics:
        wrong("it has statistics, but not the times: import profile_export.jsonl, which AIPerf writes beside it");
        break;
    }
    return checked();
  }

  Result<TimesFile> read_aiperf(std::string_view bytes) {
    requests(requests_of_aiperf(bytes));
    return checked();
  }

 private:
  Result<TimesFile> checked() {
    if (wrong_.empty() && file_.benchmarks.empty()) {
      wrong_ = without_data_.empty() ? "there are no times in it" : without_data_;
    }
    if (!wrong_.empty()) return usage_error(fmt::format("{}: {}", name_of(format_), wrong_));
    return std::move(file_);
  }

  void wrong(std::string what) {
    if (wrong_.empty()) wrong_ = std::move(what);
  }

  // Every time that is kept comes through here.
  double seconds(const Json& number, double unit_s) {
    const double value = number.is_number() ? number.get<double>() * unit_s : -1;
    if (!std::isfinite(value) || value < 0) wrong("it contains a time that is negative or no number");
    if (++times_ > kMostImportedTimes) wrong(fmt::format("it contains more than {} times", kMostImportedTimes));
    return value;
  }

  void keep(std::string name, std::vector<std::vector<double>> processes) {
    std::erase_if(processes, [](const auto& times) { return times.empty(); });
    if (!processes.empty()) file_.benchmarks.push_back({std::move(name), std::move(processes)});
  }
  void keep_one_process(std::string name, std::vector<double> times) { keep(std::move(name), {std::move(times)}); }

  // --export-json: seconds. Runs that ended with another exit code than 0 are there only with --ignore-failure.
  void hyperfine(const Json& json) {
    std::int64_t failed = 0;
    for (const Json& result : member_of(json, "results")) {
      const Json &times = member_of(result, "times"), &codes = member_of(result, "exit_codes");
      std::vector<std::vector<double>> processes;
      for (std::size_t i = 0; times.is_array() && i < times.size(); ++i) {
        const bool ended_well = !codes.is_array() || i >= codes.size() || codes[i] == 0;
        failed += ended_well ? 0 : 1;
        if (ended_well) processes.push_back({seconds(times[i], 1)});
      }
      keep(std::string(text_at(result, "command")), std::move(processes));
    }
    without_data_ = failed > 0 ? "every run of it failed" : "it has no times (--export-json of hyperfine 1.0 or later)";
    if (failed > 0) {
      file_.note = fmt::format("{} left out", counted(failed, "run that failed was", "runs that failed were"));
    }
  }

  static double unit_of_google(std::string_view unit) {
    if (unit == "s") return 1;
    if (unit == "ms") return 1e-3;
    return unit == "us" ? 1e-6 : 1e-9;
  }

  // Aggregates are computed from what is read.
  void google_benchmark(const Json& json) {
    std::vector<std::pair<std::string, std::vector<double>>> found;
    std::size_t without_times = 0;
    for (const Json& entry : member_of(json, "benchmarks")) {
      if (!entry.is_object() || text_at(entry, "run_type") == "aggregate") continue;
      if (member_of(entry, "error_occurred") == true || member_of(entry, "skipped") == true) {
        ++without_times;
        continue;
      }
      std::string name(text_at(entry, "run_name"));
      if (name.empty()) name = text_at(entry, "name");
      auto place = std::ranges::find(found, name, &std::pair<std::string, std::vector<double>>::first);
      if (place == found.end()) place = found.insert(place, {name, {}});
      place->second.push_back(seconds(member_of(entry, "real_time"), unit_of_google(text_at(entry, "time_unit"))));
    }
    for (auto& [name, times] : found) keep_one_process(std::move(name), std::move(times));
    if (without_times > 0)
      file_.note = fmt::format("{} left out", counted(without_times, "run that failed or was skipped was",
                                                      "runs that failed or were skipped were"));
    without_data_ = without_times > 0 ? "every run of it failed or was skipped"
                                      : "it has aggregates only: leave --benchmark_report_aggregates_only out";
  }

  // target/criterion/NAME/new/sample.json: nanoseconds of all iterations of a sample.
  void criterion(const Json& json) {
    const Json &iterations = member_of(json, "iters"), &sums = member_of(json, "times");
    if (!iterations.is_array() || !sums.is_array() || iterations.size() != sums.size()) {
      return wrong("its iterations and times are not as many");
    }
    std::vector<double> times;
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const double count = iterations[i].is_number() ? iterations[i].get<double>() : 0;
      if (!(count >= 1)) return wrong("it has a sample of no iterations");
      times.push_back(seconds(sums[i], 1e-9 / count));
    }
    keep_one_process({}, std::move(times));
  }

  void pytest_benchmark(const Json& json) {
    for (const Json& entry : member_of(json, "benchmarks")) {
      std::vector<double> times;
      for (const Json& time : member_of(member_of(entry, "stats"), "data")) times.push_back(seconds(time, 1));
      std::string name(text_at(entry, "fullname"));
      if (name.empty()) name = text_at(entry, "name");
      keep_one_process(std::move(name), std::move(times));
    }
    without_data_ = "it has statistics, but not the times: write it with --benchmark-save-data";
  }

  // Of a server: some may be in flight at once.
  void requests(Result<std::vector<RequestSeries>> found) {
    if (!found.ok()) return wrong(found.error().message);
    std::int64_t failed = 0;
    for (RequestSeries& series : *found) {
      const auto failed_here = std::ranges::count(series.requests, true, &TimedRequest::failed);
      failed += failed_here;
      times_ += series.requests.size();
      if (times_ > kMostImportedTimes) return wrong(fmt::format("it contains more than {} times", kMostImportedTimes));
      if (static_cast<std::size_t>(failed_here) == series.requests.size()) continue;
      sort_by_begin(series.requests);
      file_.benchmarks.push_back({std::move(series.name), {}, std::move(series.requests)});
    }
    if (failed == 0) return;
    without_data_ = "every request of it failed";
    file_.note = fmt::format("{}", counted(failed, "request failed", "requests failed"));
  }

  // --exportTimes: milliseconds; the latency has the copies to the device and back in it.
  void trtexec(const Json& json) {
    std::vector<double> times;
    for (const Json& entry : json) {
      if (entry.is_object()) times.push_back(seconds(member_of(entry, "latencyMs"), 1e-3));
    }
    keep_one_process({}, std::move(times));
  }

  TimesFormat format_;
  TimesFile file_;
  std::size_t times_ = 0;
  std::string wrong_, without_data_;
};

}  // namespace

std::string_view name_of(TimesFormat format) {
  switch (format) {
    case TimesFormat::hyperfine: return "hyperfine's JSON";
    case TimesFormat::google_benchmark: return "Google Benchmark's JSON";
    case TimesFormat::criterion: return "criterion's samples";
    case TimesFormat::pytest_benchmark: return "pytest-benchmark's JSON";
    case TimesFormat::perf_analyzer: return "perf_analyzer's export";
    case TimesFormat::trtexec: return "trtexec's times";
    case TimesFormat::aiperf: return "AIPerf's records";
    case TimesFormat::aiperf_statistics: return "AIPerf's statistics";
  }
  return "";
}

std::optional<TimesFormat> format_of_times(std::string_view bytes) {
  const std::size_t begin = bytes.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return std::nullopt;
  const std::string_view head = bytes.substr(begin, kLookedAt);
  const auto* const found = std::ranges::find_if(format_marks, [&](const FormatMarks& marks) {
    return head.front() == marks.first && std::ranges::all_of(marks.keys, [&](std::string_view key) {
             return head.find(key) != std::string_view::npos;
           });
  });
  return found == format_marks.end() ? std::nullopt : std::optional(found->format);
}

Result<TimesFile> read_times(std::string_view bytes, TimesFormat format) {
  if (format == TimesFormat::aiperf) return TimesReader(format).read_aiperf(bytes);
  const Json json = Json::parse(bytes, nullptr, false);
  if (json.is_discarded()) return usage_error(fmt::format("{}: it ends early, or is not JSON", name_of(format)));
  return TimesReader(format).read(json);
}

}  // namespace infermeter
