// Times that other tools measured, as they wrote them. Bytes from outside: anything in them may be cut, foreign or
// hostile. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/importing/requests_file.hpp"

namespace infermeter {

enum class TimesFormat {
  hyperfine,
  google_benchmark,
  criterion,
  pytest_benchmark,
  perf_analyzer,
  trtexec,
  aiperf,
  aiperf_statistics
};
[[nodiscard]] std::string_view name_of(TimesFormat format);  // "hyperfine's JSON"
// By what is in it; nullopt: none of them.
[[nodiscard]] std::optional<TimesFormat> format_of_times(std::string_view bytes);

// What was measured under one name.
struct BenchmarkTimes {
  std::string name;  // text from outside; empty: the file holds one and does not name it
  // Seconds, by process, in order. hyperfine: each run of the command is a process with one time; the others measure
  // within one process. Google Benchmark, criterion, and pytest-benchmark with several iterations a round: each time is
  // the mean of the iterations of a repetition, a sample or a round.
  std::vector<std::vector<double>> processes;
  // Of a file of requests instead, by begin: one process.
  std::vector<TimedRequest> requests{};
};

struct TimesFile {
  std::vector<BenchmarkTimes> benchmarks;
  std::string note;  // what of it is not judged, one sentence without its end; empty: all is
};

// Errors, each one sentence that begins with what the file is: cut, no times in it, times that are negative or no
// numbers.
[[nodiscard]] Result<TimesFile> read_times(std::string_view bytes, TimesFormat format);

// More times of one file are refused.
inline constexpr std::size_t kMostImportedTimes = 10'000'000;

}  // namespace infermeter
