#include "settings.hpp"

#include <array>
#include <cstdint>

#include "letter_case.hpp"

namespace infermeter {
namespace {

constexpr std::array<std::string_view, 3> hints = {"latency", "throughput", "cumulative_throughput"};
constexpr std::array<std::string_view, 2> modes = {"performance", "accuracy"};

using Text = std::string_view;

const char* yes_no(Text value) { return parse_bool(value) ? "YES" : "NO"; }

const OptionRow<Settings> rows[] = {
    {{"performance_hint", "latency|throughput|cumulative_throughput",
      "what the runtime optimises for; default latency"},
     [](Settings& s, Text v) { s.performance_hint = upper(parse_choice(v, hints)); }},
    {{"num_streams", "N",
      "inferences that can be executed at the same time; default 1, or the runtime's choice for another hint than "
      "latency"},
     [](Settings& s, Text v) { s.streams = std::to_string(parse_integer<int>(v, 1, 4096)); }},
    {{"enable_cpu_pinning", "true|false", "keep each thread on one processor; default: OpenVINO's choice"},
     [](Settings& s, Text v) { s.others.emplace_back("ENABLE_CPU_PINNING", yes_no(v)); }},
    {{"enable_hyper_threading", "true|false", "use both threads of a core; default: OpenVINO's choice"},
     [](Settings& s, Text v) { s.others.emplace_back("ENABLE_HYPER_THREADING", yes_no(v)); }},
    {{"execution_mode_hint", "performance|accuracy",
      "whether speed may cost accuracy beside dtype; default performance"},
     [](Settings& s, Text v) { s.others.emplace_back("EXECUTION_MODE_HINT", upper(parse_choice(v, modes))); }},
    {{"dynamic_quantization_group_size", "N", "group of dynamically quantised weights; 0: no such quantisation"},
     [](Settings& s, Text v) {
       s.others.emplace_back("DYNAMIC_QUANTIZATION_GROUP_SIZE",
                             std::to_string(parse_integer<std::uint64_t>(v, 0, UINT32_MAX)));
     }},
};

}  // namespace

std::span<const OptionRow<Settings>> option_rows() { return rows; }

}  // namespace infermeter
