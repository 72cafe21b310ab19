// A program that uses infermeter as a library.
//
//   embed FOLDER    measures two functions of its own, then a plan of subjects in workers; reports go to FOLDER
//
// Built against the installed package: cmake -S examples/embed -B build/embed && cmake --build build/embed
#include <filesystem>
#include <fstream>
#include <iostream>
#include <numeric>
#include <string>
#include <vector>

#include "infermeter/infermeter.hpp"

namespace {

// What this program wants to know about itself: is adding up row by row faster than column by column?
constexpr std::size_t side = 1024;

double sum_by_rows(const std::vector<double>& matrix) { return std::accumulate(matrix.begin(), matrix.end(), 0.0); }

double sum_by_columns(const std::vector<double>& matrix) {
  double sum = 0;
  for (std::size_t column = 0; column < side; ++column) {
    for (std::size_t row = 0; row < side; ++row) sum += matrix[row * side + column];
  }
  return sum;
}

void print(const infermeter::NamedResult& result) {
  const infermeter::Metric* p50 = result.summary.metric("latency_p50");
  if (p50 == nullptr || !p50->estimate.value) return;
  std::cout << result.name << ": " << infermeter::format_time(*p50->estimate.value) << ", " << p50->estimate.n
            << " iterations\n";
}

void write(const std::filesystem::path& file, const std::string& text) { std::ofstream(file) << text; }

void write_reports(const infermeter::RunRecord& record, const std::filesystem::path& folder, const std::string& name) {
  const infermeter::Verdict verdict = infermeter::judge(record);
  write(folder / (name + ".json"), infermeter::render(record, verdict, infermeter::Format::json, {}));
  write(folder / (name + ".csv"), infermeter::render(record, verdict, infermeter::Format::csv, {}));
  write(folder / (name + ".md"), infermeter::render(record, verdict, infermeter::Format::markdown, {}));
  std::cout << infermeter::render(record, verdict, infermeter::Format::table, {.width = 80});
}

// Its own functions, in its own process, by the loop that workers use, in rounds, so that what drifts falls on both.
// They share one process, so that there is no interval: what another process would give is not known.
infermeter::Results measure_own_functions() {
  const std::vector<double> matrix(side * side, 1.0);
  volatile double sink = 0;
  const infermeter::Stopping stopping{.warmup = 5, .iterations = 50, .duration_s = {}};
  infermeter::Results results;
  for (int round = 0; round < 3; ++round) {
    results.add("by columns", {infermeter::measure([&] { sink = sum_by_columns(matrix); }, stopping)});
    results.add("by rows", {infermeter::measure([&] { sink = sum_by_rows(matrix); }, stopping)});
  }
  return results;
}

// A plan, as `infermeter run` would make it: each trial in a worker process of its own.
infermeter::Result<infermeter::RunRecord> run_plan(const std::filesystem::path& folder) {
  INFERMETER_TRY(auto launcher, infermeter::find_launcher());
  infermeter::Subject base;
  INFERMETER_TRY(auto steady, infermeter::subject_from_string("steady=mlp@fake,latency=constant:1ms", base));
  INFERMETER_TRY(auto slower, infermeter::subject_from_string("slower=mlp@fake,latency=constant:2ms", base));
  infermeter::Plan plan;
  plan.subjects = {steady, slower};
  plan.stopping = {.warmup = 2, .iterations = 30, .duration_s = {}};
  plan.output_dir = folder / "results";
  infermeter::RunContext context;
  context.launcher = launcher;
  context.cache = infermeter::default_cache();
  context.on_progress = [](const infermeter::Progress& progress) {
    if (progress.finished == nullptr) return;
    std::cout << "trial " << progress.trial + 1 << " of " << progress.trials << ": " << progress.subject->label << ", "
              << infermeter::to_string(progress.finished->end) << '\n';
  };
  return infermeter::run(plan, context);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::cerr << "usage: embed FOLDER\n", 2;
  const std::filesystem::path folder = argv[1];
  std::filesystem::create_directories(folder);

  const infermeter::Results own = measure_own_functions();
  for (const auto& result : own.all()) print(result);
  const auto comparison = own.compare("by columns", "by rows");
  if (!comparison) return std::cerr << comparison.error().message << '\n', 1;
  std::cout << "by rows is " << infermeter::format_ratio(comparison->speedup.value.value_or(0)) << " as fast"
            << " in this process\n";
  write_reports(own.to_record(), folder, "own");

  const auto record = run_plan(folder);
  if (!record) return std::cerr << record.error().message << '\n', 1;
  for (const auto& trial : record->trials) {
    const std::vector<double> latencies = infermeter::latencies_s(trial);
    std::cout << record->plan.subjects[static_cast<std::size_t>(trial.subject)].label << ", process " << trial.process
              << ": first of " << latencies.size() << " latencies " << infermeter::format_time(latencies.front())
              << '\n';
  }
  write_reports(*record, folder, "plan");
}
