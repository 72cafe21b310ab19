// What the loop costs around an empty subject, in seconds per iteration, as one line of JSON. Three loops that each
// take two times and keep them: ours, a bare one of two steady_clock readings, and Google Benchmark's with manual
// timing.
#include <benchmark/benchmark.h>

#include <chrono>
#include <cstdio>
#include <vector>

#include "infermeter/infermeter.hpp"

namespace {

constexpr std::int64_t iterations = 1'000'000;

// From the first begin to the last end: all that lies between two iterations counts.
double ours(double* clock_reading_s) {
  const auto samples = infermeter::measure([] {}, {.warmup = 1000, .iterations = iterations, .duration_s = {}});
  *clock_reading_s = samples.clock.read_cost_s;
  return (samples.end_s.back() - samples.begin_s.front()) / static_cast<double>(iterations);
}

double bare() {
  using clock = std::chrono::steady_clock;
  std::vector<clock::time_point> begin(iterations), end(iterations);
  for (std::size_t i = 0; i < static_cast<std::size_t>(iterations); ++i) {
    begin[i] = clock::now();
    benchmark::ClobberMemory();
    end[i] = clock::now();
  }
  return std::chrono::duration<double>(end.back() - begin.front()).count() / static_cast<double>(iterations);
}

double google_seconds = 0;

void google(benchmark::State& state) {
  using clock = std::chrono::steady_clock;
  const auto first = clock::now();
  for (auto iteration : state) {
    (void)iteration;
    const auto begin = clock::now();
    benchmark::ClobberMemory();
    state.SetIterationTime(std::chrono::duration<double>(clock::now() - begin).count());
  }
  google_seconds =
      std::chrono::duration<double>(clock::now() - first).count() / static_cast<double>(state.iterations());
}

double google_manual_time() {
  benchmark::RegisterBenchmark("empty", google)->UseManualTime()->Iterations(iterations);
  class Silent : public benchmark::BenchmarkReporter {
    bool ReportContext(const Context&) override { return true; }
    void ReportRuns(const std::vector<Run>&) override {}
  } silent;
  benchmark::RunSpecifiedBenchmarks(&silent);
  return google_seconds;
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  double reading_s = 0;
  const double measured = ours(&reading_s);
  std::printf("{\"measure\": %.3e, \"two_own_readings\": %.3e, \"steady_clock\": %.3e, \"google\": %.3e}\n", measured,
              2 * reading_s, bare(), google_manual_time());
}
