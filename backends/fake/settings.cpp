#include "settings.hpp"

#include <array>
#include <climits>
#include <cmath>
#include <stdexcept>

#include "sdk/units.hpp"

namespace infermeter {
namespace {

constexpr std::size_t most_inputs = 64, most_dimensions = 16;

imb_dtype dtype_from(std::string_view name) {
  for (const ElementType& type : element_types) {
    if (type.name == name && type.bits != 0) return type.dtype;
  }
  throw std::invalid_argument(std::string(name) + " is not an element type");
}

PortFields input_from(std::string_view text) {
  const auto parts = split(text, ":");
  if (parts.size() != 3 || parts[0].empty()) throw std::invalid_argument("");
  PortFields port{.name = std::string(parts[0]), .dtype = dtype_from(parts[1]), .shape = {}, .dimension_names = {}};
  if (parts[2].empty()) return port;
  for (const std::string_view dimension : split(parts[2], "x")) {
    const bool number = dimension.find_first_not_of("-0123456789") == std::string_view::npos;
    port.shape.push_back(number ? parse_integer<std::int64_t>(dimension, -1, INT32_MAX) : -1);
    port.dimension_names.emplace_back(number ? "" : dimension);
  }
  if (port.shape.size() > most_dimensions) throw std::invalid_argument("more than 16 dimensions");
  return port;
}

// Either separator: a comma ends an option in the short form of a subject.
std::vector<PortFields> inputs_from(std::string_view text) {
  std::vector<PortFields> inputs;
  for (const std::string_view part : split(text, ",+")) inputs.push_back(input_from(part));
  if (inputs.size() > most_inputs) throw std::invalid_argument("more than 64 inputs");
  return inputs;
}

std::vector<std::pair<std::string, double>> counters_from(std::string_view text) {
  std::vector<std::pair<std::string, double>> counters;
  for (const std::string_view part : split(text, ",+")) {
    const auto fields = split(part, ":");
    if (fields.size() != 2 || fields[0].empty()) throw std::invalid_argument("");
    counters.emplace_back(fields[0], number_from(fields[1]));
  }
  return counters;
}

OutputKind output_kind_from(std::string_view text) {
  static constexpr std::array<std::string_view, 10> names = {
      "hash", "zeros", "ones", "random", "nan", "inf", "wrong_shape", "wrong_dtype", "permuted", "negative_zero"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == text) return static_cast<OutputKind>(i);
  }
  throw std::invalid_argument("");
}

void read_output_error(Settings& settings, std::string_view text) {
  settings.outputs.error_is_relative = text.ends_with('%');
  if (settings.outputs.error_is_relative) text.remove_suffix(1);
  settings.outputs.error = number_from(text) / (settings.outputs.error_is_relative ? 100 : 1);
}

void read_stderr(Settings& settings, std::string_view text) {
  settings.stderr_endless = text == "endless";
  if (!settings.stderr_endless) settings.stderr_bytes = bytes_from(text);
}

void read_child(Settings& settings, std::string_view text) {
  if (text != "none" && text != "group" && text != "session") throw std::invalid_argument("");
  settings.child = text != "none";
  settings.child_in_session = text == "session";
}

Work work_from(std::string_view text) {
  if (text == "none") return Work::none;
  if (text == "spin") return Work::spin;
  if (text == "sleep") return Work::sleep;
  throw std::invalid_argument("");
}

using S = Settings;
using Text = std::string_view;
constexpr const char* places = "load|compile|run:N|outputs:N|profile";

const OptionRow<Settings> rows[] = {
    {{"latency", "none|constant:T|normal:MEAN:SD|lognormal:MEDIAN:SIGMA|exponential:MEAN|bimodal:A:B:P",
      "time of an inference; times like 250us, 1.5ms"},
     [](S& s, Text v) { s.latency = latency_from(v); }},
    {{"work", "spin|sleep|none", "how that time passes; none: an empty subject"},
     [](S& s, Text v) { s.work = work_from(v); }},
    {{"drift", "none|ramp:FROM:TO:N|step:TO:N", "a factor on the time that changes over, or after, N inferences"},
     [](S& s, Text v) { s.drift = drift_from(v); }},
    {{"process_spread", "RELATIVE_SD", "a factor on the time that is drawn again in each process"},
     [](S& s, Text v) { s.process_spread = number_from(v); }},
    {{"seed", "N|random", "of the times"},
     [](S& s, Text v) {
       s.seed = v == "random" ? std::optional<std::uint64_t>() : parse_integer<std::uint64_t>(v, 0, UINT64_MAX);
     }},
    {{"compute", "N", "units of arithmetic (about 2 ns each) that every inference does, before its time passes"},
     [](S& s, Text v) { s.compute = parse_integer<std::uint64_t>(v, 0, UINT64_MAX); }},
    {{"load_delay", "TIME", "time that loading takes"}, [](S& s, Text v) { s.load_delay = seconds_from(v); }},
    {{"compile_delay", "TIME", "time that compiling takes"}, [](S& s, Text v) { s.compile_delay = seconds_from(v); }},
    {{"first_delay", "TIME", "additional time of the first inference"},
     [](S& s, Text v) { s.first_delay = seconds_from(v); }},
    {{"asynchronous", "true|false", "run returns at once and the time passes in synchronize, as on a device"},
     [](S& s, Text v) { s.asynchronous = parse_bool(v); }},
    {{"memory", "BYTES", "allocated and touched at load; bytes like 512, 10MB, 4MiB"},
     [](S& s, Text v) { s.memory = bytes_from(v); }},
    {{"memory_per_run", "BYTES", "leaked by each inference"}, [](S& s, Text v) { s.memory_per_run = bytes_from(v); }},
    {{"inputs", "NAME:DTYPE:AxBxC[+...]", "inputs; a dimension is a number, -1 or a name"},
     [](S& s, Text v) { s.inputs = inputs_from(v); }},
    {{"outputs", "hash|zeros|ones|random|nan|inf|negative_zero|wrong_shape|wrong_dtype|permuted",
      "hash: a function of the input's bytes"},
     [](S& s, Text v) { s.outputs.kind = output_kind_from(v); }},
    {{"output_error", "ABSOLUTE|RELATIVE%", "added to every output value"}, read_output_error},
    {{"fail", places, "return an error there"}, [](S& s, Text v) { s.triggers.fail = trigger_from(v); }},
    {{"out_of_memory", places, "report that memory ran out"},
     [](S& s, Text v) { s.triggers.out_of_memory = trigger_from(v); }},
    {{"crash", places, "SIGSEGV"}, [](S& s, Text v) { s.triggers.crash = trigger_from(v); }},
    {{"abort", places, "SIGABRT"}, [](S& s, Text v) { s.triggers.abort = trigger_from(v); }},
    {{"kill", places, "SIGKILL"}, [](S& s, Text v) { s.triggers.kill = trigger_from(v); }},
    {{"exit", places, "end the process with status 0"}, [](S& s, Text v) { s.triggers.exit = trigger_from(v); }},
    {{"hang", places, "never return"}, [](S& s, Text v) { s.triggers.hang = trigger_from(v); }},
    {{"stop", places, "SIGSTOP: continue when SIGCONT comes"}, [](S& s, Text v) { s.triggers.stop = trigger_from(v); }},
    {{"stderr", "BYTES|endless", "noise written to stderr at load"}, read_stderr},
    {{"write_file", "PATH", "try to write there at load; the error number is the counter write_error"},
     [](S& s, Text v) { s.write_file = v; }},
    {{"read_file", "PATH", "try to read there at load; the error number is the counter read_error"},
     [](S& s, Text v) { s.read_file = v; }},
    {{"connect", "true|false", "try to use the network at load; the error number is the counter connect_error"},
     [](S& s, Text v) { s.connect = parse_bool(v); }},
    {{"execute", "true|false", "try to start a program at load; the error number is the counter execute_error"},
     [](S& s, Text v) { s.execute = parse_bool(v); }},
    {{"child", "none|group|session",
      "start a process at load that lives for ever, in the worker's group or in a session of its own, its parent gone; "
      "its number is the counter child"},
     read_child},
    {{"child_memory", "BYTES", "allocated and touched by that process"},
     [](S& s, Text v) { s.child_memory = bytes_from(v); }},
    {{"variable", "NAME", "an environment variable whose value is reported as executed"},
     [](S& s, Text v) { s.variable = v; }},
    {{"executed_dtype", "NAME", "reported as executed"}, [](S& s, Text v) { s.executed_dtype = v; }},
    {{"executed_threads", "N", "reported as executed"},
     [](S& s, Text v) { s.executed_threads = parse_integer<int>(v, 1, INT_MAX); }},
    {{"concurrent_inferences", "N", "reported as executed"},
     [](S& s, Text v) { s.concurrent_inferences = parse_integer<int>(v, 1, INT_MAX); }},
    {{"executed_device", "NAME", "reported as executed"}, [](S& s, Text v) { s.executed_device = v; }},
    {{"provider", "NAME", "reported as executed"}, [](S& s, Text v) { s.provider = v; }},
    {{"counters", "NAME:VALUE[+...]", "reported as counters"}, [](S& s, Text v) { s.counters = counters_from(v); }},
    {{"operators", "KIND:NAME:TIME[:ORIGIN|...[:KERNEL[:PRECISION[:LAYOUT]]]][+...]",
      "operators of its profile; without a latency, an inference takes their time"},
     [](S& s, Text v) { s.script.operators = operators_from(v); }},
    {{"operator_gap", "TIME", "time before each operator that belongs to none"},
     [](S& s, Text v) { s.script.gap_ns = std::llround(seconds_from(v) * 1e9); }},
    {{"delay", "NAME:TIME[+...]", "added to the time of that operator"},
     [](S& s, Text v) { s.script.delays = delays_from(v); }},
    {{"profile", "events|means|flood|cut|hostile|none", "how the profile comes; flood: more events than are kept"},
     [](S& s, Text v) { s.script.profile = profile_kind_from(v); }},
};

}  // namespace

std::span<const OptionRow<Settings>> option_rows() { return rows; }

}  // namespace infermeter
