#include "infermeter/verdict/rounds/disturbance.hpp"

#include <algorithm>

#include "infermeter/verdict/answers/trial_diagnostics.hpp"

namespace infermeter {
namespace {

constexpr double most_steal = 0.02;
constexpr double most_foreign_processors = 0.5;

bool is_about_others(const Diagnostic& diagnostic) {
  return diagnostic.id == DiagnosticId::foreign_load || diagnostic.id == DiagnosticId::steal ||
         diagnostic.id == DiagnosticId::throttled;
}

}  // namespace

bool is_disturbed(const NoiseRecord& noise) {
  return noise.throttled_s.value_or(0) > 0 || noise.steal.value_or(0) > most_steal ||
         noise.foreign_cpu.value_or(0) > most_foreign_processors;
}

Disturbance disturbance_of(std::span<const Samples> trials) {
  Disturbance found;
  std::ptrdiff_t reported = 0;
  for (const Samples& trial : trials) {
    found.is_grave = found.is_grave || is_disturbed(trial.noise);
    reported += std::ranges::any_of(trial.diagnostics, is_about_others) ? 1 : 0;
  }
  found.is_grave = found.is_grave || (reported > 0 && 2 * reported >= std::ssize(trials));
  for (const Diagnostic& diagnostic : merged_diagnostics(trials, "")) {
    if (!is_about_others(diagnostic)) continue;
    if (!found.text.empty()) found.text += "; ";
    found.text += diagnostic.message;
  }
  return found;
}

}  // namespace infermeter
