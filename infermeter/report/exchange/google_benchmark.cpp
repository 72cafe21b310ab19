// JSON as Google Benchmark's JSONReporter writes it (github.com/google/benchmark, src/json_reporter.cc, 1.7 to 1.9).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "infermeter/report/exchange/exchange.hpp"
#include "infermeter/report/forms/json_writer.hpp"
#include "infermeter/report/run/subject_label.hpp"
#include "infermeter/samples/load/load_counters.hpp"
#include "infermeter/stats/summary/process_times.hpp"
#include "infermeter/text/utc_time.hpp"
#include "infermeter/verdict/rounds/blocks.hpp"

namespace infermeter {
namespace {

constexpr double ns = 1e9;  // of a second

struct Repetition {
  const Samples* trial = nullptr;
  std::int64_t iterations = 0;
  double real_ns = 0, cpu_ns = 0;  // per iteration
};

std::vector<Repetition> repetitions_of(const std::vector<Samples>& trials) {
  std::vector<Repetition> repetitions;
  for (const ProcessTimes& process : subject_times(trials, {}, Wanted::any_order).processes) {
    const double sum = std::accumulate(process.sorted.begin(), process.sorted.end(), 0.0);
    const double mean = sum / static_cast<double>(process.sorted.size()) * ns;
    repetitions.push_back({.trial = process.trial,
                           .iterations = static_cast<std::int64_t>(process.sorted.size()),
                           .real_ns = mean,
                           .cpu_ns = mean * process.trial->noise.own_cpu.value_or(1)});
  }
  return repetitions;
}

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double median_of(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

double deviation_of(const std::vector<double>& values) {
  if (values.size() < 2) return 0;
  const double mean = mean_of(values);
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

double variation_of(const std::vector<double>& values) { return deviation_of(values) / mean_of(values); }

struct Aggregate {
  const char* name;
  const char* unit;  // "time", "percentage"
  double (*of)(const std::vector<double>&);
};
constexpr std::array<Aggregate, 4> aggregates = {
    Aggregate{"mean", "time", mean_of},
    Aggregate{"median", "time", [](const auto& values) { return median_of(values); }},
    Aggregate{"stddev", "time", deviation_of}, Aggregate{"cv", "percentage", variation_of}};

std::string_view kind_of_cache(std::string_view kind) {
  if (kind.ends_with('d')) return "Data";
  return kind.ends_with('i') ? "Instruction" : "Unified";
}

void write_benchmark_context(JsonWriter& json, const RunRecord& record) {
  const Environment& machine = record.environment;
  const auto timed = std::ranges::find_if(
      record.trials, [](const Samples& trial) { return trial.noise.frequency_before_hz.has_value(); });
  json.key("context");
  json.begin_object();
  json.member("date", utc_time(record.created_at));
  json.member("host_name", machine.hostname);
  json.member("executable", "infermeter");
  json.member("num_cpus", machine.processors_online);
  if (timed != record.trials.end()) {
    json.member("mhz_per_cpu", std::int64_t{std::llround(*timed->noise.frequency_before_hz / 1e6)});
  }
  json.member("cpu_scaling_enabled", machine.governor && *machine.governor != "performance");
  json.key("caches");
  json.begin_array();
  for (const Cache& cache : machine.caches) {
    json.begin_object();
    json.member("type", kind_of_cache(cache.kind));
    json.member("level", cache.kind.size() > 1 ? cache.kind[1] - '0' : 0);
    json.member("size", cache.size_bytes);
    json.member("num_sharing", cache.shared_by);
    json.end_object();
  }
  json.end_array();
  json.key("load_avg");
  json.begin_array();
  if (machine.load_1min) json.value(*machine.load_1min);
  json.end_array();
  json.member("library_build_type", "release");
  json.member("infermeter_version", machine.infermeter_version);
  json.member("infermeter_run", record.id);
  json.member("infermeter_machine", machine_fingerprint(machine));
  json.end_object();
}

class Entries {
 public:
  Entries(JsonWriter& json, const std::string& label, int family, std::size_t repetitions)
      : json_(json), label_(label), family_(family), repetitions_(static_cast<std::int64_t>(repetitions)) {}

  void repetition(const Repetition& one, std::int64_t index) {
    begin(label_, "iteration");
    json_.member("repetition_index", index);
    json_.member("threads", 1);
    json_.member("iterations", one.iterations);
    times(one.real_ns, one.cpu_ns);
    // Requests under load overlap.
    const double per_s = one.trial->load ? inferences_per_s(*one.trial->load).value_or(0) : ns / one.real_ns;
    json_.member("items_per_second", static_cast<double>(one.trial->items_per_iteration) * per_s);
    if (one.trial->memory.rss_peak_inference) json_.member("max_bytes_used", *one.trial->memory.rss_peak_inference);
    json_.end_object();
  }

  void aggregate(const Aggregate& how, const std::vector<double>& real_ns, const std::vector<double>& cpu_ns) {
    begin(label_ + '_' + how.name, "aggregate");
    json_.member("threads", 1);
    json_.member("aggregate_name", how.name);
    json_.member("aggregate_unit", how.unit);
    json_.member("iterations", repetitions_);
    times(how.of(real_ns), how.of(cpu_ns));
    json_.end_object();
  }

 private:
  void begin(const std::string& name, const char* type) {
    json_.begin_object();
    json_.member("name", name);
    json_.member("family_index", family_);
    json_.member("per_family_instance_index", 0);
    json_.member("run_name", label_);
    json_.member("run_type", type);
    json_.member("repetitions", repetitions_);
  }
  void times(double real, double cpu) {
    json_.member("real_time", real);
    json_.member("cpu_time", cpu);
    json_.member("time_unit", "ns");
  }

  JsonWriter& json_;
  const std::string& label_;
  int family_;
  std::int64_t repetitions_;
};

}  // namespace

std::string render_google_benchmark(const RunRecord& record, const Verdict& verdict) {
  JsonWriter json;
  json.begin_object();
  write_benchmark_context(json, record);
  json.key("benchmarks");
  json.begin_array();
  for (const SubjectVerdict& subject : verdict.subjects) {
    const std::vector<Samples> trials = trials_of(record, subject.subject);
    const std::vector<Repetition> repetitions = repetitions_of(trials);
    if (repetitions.empty()) continue;
    Entries entries(json, subject_of(record, subject).label, subject.subject, repetitions.size());
    std::vector<double> real_ns, cpu_ns;
    for (const Repetition& one : repetitions) {
      entries.repetition(one, static_cast<std::int64_t>(real_ns.size()));
      real_ns.push_back(one.real_ns);
      cpu_ns.push_back(one.cpu_ns);
    }
    if (repetitions.size() < 2) continue;
    for (const Aggregate& aggregate : aggregates) entries.aggregate(aggregate, real_ns, cpu_ns);
  }
  json.end_array();
  json.end_object();
  return json.take() + '\n';
}

}  // namespace infermeter
