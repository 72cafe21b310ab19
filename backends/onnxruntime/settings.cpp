#include "settings.hpp"

#include <array>

namespace infermeter {
namespace {

constexpr std::array<std::string_view, 4> optimisations = {"none", "basic", "extended", "all"};
constexpr std::array<std::string_view, 2> modes = {"sequential", "parallel"};

using Text = std::string_view;

const OptionRow<Settings> rows[] = {
    {{"graph_optimization", "none|basic|extended|all", "how far the graph is rewritten before it runs; default all"},
     [](Settings& s, Text v) { s.graph_optimization = parse_choice(v, optimisations); }},
    {{"intra_op_spinning", "true|false", "idle threads of an operator busy-wait instead of sleeping; default true"},
     [](Settings& s, Text v) { s.intra_op_spinning = parse_bool(v); }},
    {{"cpu_mem_arena", "true|false", "memory is kept between inferences in an arena; default true"},
     [](Settings& s, Text v) { s.cpu_mem_arena = parse_bool(v); }},
    {{"mem_pattern", "true|false", "memory is planned from the first inference's shapes; default true"},
     [](Settings& s, Text v) { s.mem_pattern = parse_bool(v); }},
    {{"denormals_as_zero", "true|false", "treat denormal numbers as 0; default false"},
     [](Settings& s, Text v) { s.denormals_as_zero = parse_bool(v); }},
    {{"execution_mode", "sequential|parallel", "run independent operators at the same time; default sequential"},
     [](Settings& s, Text v) { s.parallel = parse_choice(v, modes) == "parallel"; }},
    {{"inter_op_threads", "N", "threads for execution_mode=parallel; default 1"},
     [](Settings& s, Text v) { s.inter_op_threads = parse_integer<int>(v, 1, 4096); }},
};

}  // namespace

std::span<const OptionRow<Settings>> option_rows() { return rows; }

}  // namespace infermeter
