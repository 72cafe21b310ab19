#include "operators.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include "sdk/operators_file.hpp"
#include "sdk/units.hpp"

namespace infermeter {
namespace {

constexpr std::size_t most_operators = 10'000;

std::int64_t nanoseconds_from(std::string_view text) { return std::llround(seconds_from(text) * 1e9); }

// KIND:NAME:TIME[:ORIGIN|ORIGIN…[:KERNEL[:PRECISION[:LAYOUT]]]]
ScriptedOperator operator_from(std::string_view text) {
  auto parts = split(text, ":");
  if (parts.size() < 3 || parts.size() > 7 || parts[1].empty()) throw std::invalid_argument("");
  parts.resize(7);
  ScriptedOperator op{.kind = std::string(parts[0]),
                      .name = std::string(parts[1]),
                      .duration_ns = nanoseconds_from(parts[2]),
                      .origin_names = {},
                      .kernel = std::string(parts[4]),
                      .precision = std::string(parts[5]),
                      .layout = std::string(parts[6])};
  if (parts[3].empty()) return op;
  for (const std::string_view origin : split(parts[3], "|")) op.origin_names.emplace_back(origin);
  return op;
}

// So many calls of each operator in each iteration that some iterations do not fit.
std::uint32_t calls_of_flood(std::size_t operators, std::uint64_t iterations) {
  const std::size_t lists = std::max<std::size_t>(1, operators * static_cast<std::size_t>(iterations));
  return static_cast<std::uint32_t>(most_operator_events * 3 / 2 / lists + 1);
}

void add_iteration(const Script& script, std::uint32_t iteration, std::uint32_t calls, OperatorsFile& file) {
  std::int64_t now = 0;
  for (std::uint32_t op = 0; op < script.operators.size(); ++op) {
    now += script.gap_ns;
    for (std::uint32_t call = 0; call < calls; ++call) {
      const std::int64_t duration = script.operators[op].duration_ns / calls;
      file.iteration.push_back(iteration);
      file.op.push_back(op);
      file.thread.push_back(0);
      file.begin_ns.push_back(now);
      file.duration_ns.push_back(duration);
      now += duration;
    }
  }
}

// In the middle of the last list.
void cut_file(const std::string& folder, std::size_t events) {
  const std::filesystem::path path = folder + "/operators.json";
  std::string text(std::filesystem::file_size(path), '\0');
  std::ifstream(path).read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(text.size() - std::max<std::size_t>(4, events));
  std::ofstream(path) << text;
}

}  // namespace

double Script::seconds() const {
  std::int64_t sum = 0;
  for (const ScriptedOperator& op : operators) sum += gap_ns + op.duration_ns;
  return static_cast<double>(sum) * 1e-9;
}

std::vector<ScriptedOperator> operators_from(std::string_view text) {
  std::vector<ScriptedOperator> operators;
  for (const std::string_view part : split(text, ",+")) operators.push_back(operator_from(part));
  if (operators.size() > most_operators) throw std::invalid_argument("more than 10000 operators");
  return operators;
}

std::vector<std::pair<std::string, std::int64_t>> delays_from(std::string_view text) {
  std::vector<std::pair<std::string, std::int64_t>> delays;
  for (const std::string_view part : split(text, ",+")) {
    const auto fields = split(part, ":");
    if (fields.size() != 2) throw std::invalid_argument("");
    delays.emplace_back(fields[0], nanoseconds_from(fields[1]));
  }
  return delays;
}

ProfileKind profile_kind_from(std::string_view text) {
  static constexpr std::array<std::string_view, 6> names = {"events", "means", "flood", "cut", "hostile", "none"};
  const auto* const found = std::ranges::find(names, text);
  if (found == names.end()) throw std::invalid_argument("");
  return static_cast<ProfileKind>(found - names.begin());
}

void apply_delays(Script& script) {
  for (const auto& [name, delay_ns] : script.delays) {
    const auto op = std::ranges::find(script.operators, name, &ScriptedOperator::name);
    if (op == script.operators.end()) fail(IMB_INVALID_ARGUMENT, "delay: fake has no operator '" + name + "'");
    op->duration_ns += delay_ns;
  }
}

void write_profile(const Script& script, std::uint64_t iterations, const std::string& folder) {
  if (script.profile == ProfileKind::none) return;
  OperatorsFile file;
  file.source = "fake's script";
  file.clock = "iteration";
  file.iterations = iterations;
  for (const ScriptedOperator& op : script.operators) {
    auto& reported = file.operators.emplace_back();
    reported.name = op.name;
    reported.kind = op.kind;
    reported.kernel = op.kernel;
    reported.precision = op.precision;
    reported.layout = op.layout;
    reported.origin_names = op.origin_names;
  }
  const bool is_flood = script.profile == ProfileKind::flood;
  const std::uint32_t calls = is_flood ? calls_of_flood(script.operators.size(), iterations) : 1;
  for (std::uint64_t i = 0; i < iterations && file.op.size() < 2 * most_operator_events; ++i)
    if (script.profile != ProfileKind::means) add_iteration(script, static_cast<std::uint32_t>(i), calls, file);
  if (script.profile == ProfileKind::means) {
    for (const ScriptedOperator& op : script.operators) file.mean_ns.push_back(static_cast<double>(op.duration_ns));
    file.mean_calls.assign(script.operators.size(), 1.0);
  }
  if (script.profile == ProfileKind::hostile && !file.op.empty()) {
    file.operators[0].name = std::string("\x1b[31m<script>\n\xff") + std::string(100'000, 'x');
    file.op[0] = UINT32_MAX;
  }
  write_operators(file, folder);
  if (script.profile == ProfileKind::cut) cut_file(folder, file.op.size());
}

}  // namespace infermeter
