#include "infermeter/samples/samples.hpp"

#include <algorithm>
#include <array>

namespace infermeter {
namespace {

constexpr std::array<std::pair<TrialEnd, std::string_view>, 7> trial_ends = {{
    {TrialEnd::ok, "ok"},
    {TrialEnd::load_failed, "load_failed"},
    {TrialEnd::run_failed, "run_failed"},
    {TrialEnd::crashed, "crashed"},
    {TrialEnd::timeout, "timeout"},
    {TrialEnd::out_of_memory, "out_of_memory"},
    {TrialEnd::interrupted, "interrupted"},
}};

constexpr std::array<std::pair<Purpose, std::string_view>, 4> purposes = {{
    {Purpose::timed, "timed"},
    {Purpose::pilot, "pilot"},
    {Purpose::leak, "leak"},
    {Purpose::profile, "profile"},
}};

constexpr std::array<std::pair<Phase, std::string_view>, 9> phases = {{
    {Phase::start, "start"},
    {Phase::load, "load"},
    {Phase::compile, "compile"},
    {Phase::inputs, "inputs"},
    {Phase::first_inference, "first_inference"},
    {Phase::warmup, "warmup"},
    {Phase::timed, "timed"},
    {Phase::outputs, "outputs"},
    {Phase::done, "done"},
}};

template <class Table, class T>
std::string_view name_of(const Table& table, T value) {
  const auto* found = std::ranges::find(table, value, &Table::value_type::first);
  INFERMETER_CHECK(found != table.end());
  return found->second;
}

template <class Table>
auto value_of(const Table& table, std::string_view name) -> std::optional<typename Table::value_type::first_type> {
  const auto* found = std::ranges::find(table, name, &Table::value_type::second);
  if (found == table.end()) return std::nullopt;
  return found->first;
}

}  // namespace

std::string_view to_string(TrialEnd end) { return name_of(trial_ends, end); }

std::optional<TrialEnd> trial_end_from_string(std::string_view name) { return value_of(trial_ends, name); }

std::string_view to_string(Purpose purpose) { return name_of(purposes, purpose); }

std::optional<Purpose> purpose_from_string(std::string_view name) { return value_of(purposes, name); }

std::string_view to_string(Phase phase) { return name_of(phases, phase); }

std::optional<Phase> phase_from_string(std::string_view name) { return value_of(phases, name); }

std::string Samples::executed_value(std::string_view key) const {
  const auto found = std::ranges::find(executed, key, &std::pair<std::string, std::string>::first);
  return found == executed.end() ? std::string() : found->second;
}

bool has_diagnostic(const Samples& samples, DiagnosticId id) {
  return std::ranges::find(samples.diagnostics, id, &Diagnostic::id) != samples.diagnostics.end();
}

double wall_s(std::span<const Samples> trials) {
  double sum = 0;
  for (const Samples& trial : trials) sum += trial.wall_s;
  return sum;
}

std::vector<double> latencies_s(const Samples& samples) {
  const std::size_t count = std::min(samples.begin_s.size(), samples.end_s.size());
  std::vector<double> result(count);
  for (std::size_t i = 0; i < count; ++i) result[i] = samples.end_s[i] - samples.begin_s[i];
  return result;
}

}  // namespace infermeter
