// The same work as a Google Benchmark: an iteration is an inference of the `fake` back end's compute=UNITS.
// usage: google_work UNITS [--benchmark_… flags]
#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstdlib>

#include "fake/compute.hpp"

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (argc != 2) return 2;
  const std::uint64_t units = std::strtoull(argv[1], nullptr, 10);
  benchmark::RegisterBenchmark("inference", [units](benchmark::State& state) {
    infermeter::Computation computation;
    for (auto iteration : state) {
      (void)iteration;
      computation.run(units);
    }
  });
  benchmark::RunSpecifiedBenchmarks();
}
