// All options of the test instrument.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "latency.hpp"
#include "mischief.hpp"
#include "operators.hpp"
#include "outputs.hpp"
#include "sdk/options.hpp"
#include "sdk/port.hpp"

namespace infermeter {

struct Settings {
  Latency latency;
  std::optional<Work> work;  // default: spin where there is a latency
  Drift drift;
  double process_spread = 0;              // relative standard deviation of a factor drawn once per process
  std::optional<std::uint64_t> seed = 1;  // none: from the system's entropy
  std::uint64_t compute = 0;              // units of arithmetic per inference
  double load_delay = 0, compile_delay = 0, first_delay = 0;
  bool asynchronous = false;

  std::uint64_t memory = 0, memory_per_run = 0;
  Outputs outputs;
  Triggers triggers;

  std::uint64_t stderr_bytes = 0;
  bool stderr_endless = false;
  std::string write_file, read_file;
  bool connect = false, execute = false;
  bool child = false, child_in_session = false;
  std::uint64_t child_memory = 0;

  std::string variable;
  std::string executed_dtype, executed_device, provider = "none";
  int executed_threads = 0, concurrent_inferences = 0;
  std::vector<std::pair<std::string, double>> counters;
  std::vector<PortFields> inputs;
  Script script;
};

[[nodiscard]] std::span<const OptionRow<Settings>> option_rows();

}  // namespace infermeter
