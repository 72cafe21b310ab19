#include "infermeter/worker/profile/python_profile.hpp"

#include <fmt/format.h>

namespace infermeter {

std::vector<Diagnostic> PythonProfile::begin() {
  if (profiler_ == PythonProfiler::off || !hooks_.begin) return {};
  if (const auto begun = hooks_.begin(profiler_); !begun.ok()) return {no_python_profile(begun.error().message)};
  runs_ = true;
  return {};
}

std::vector<Diagnostic> PythonProfile::end() {
  if (!runs_) return {};
  runs_ = false;
  Result<std::string> stacks = hooks_.end(profiler_);
  if (!stacks.ok()) return {no_python_profile(stacks.error().message)};
  stacks_ = std::move(stacks).value();
  return {};
}

std::string python_profile_file(PythonProfiler profiler) {
  switch (profiler) {
    case PythonProfiler::off: return "";
    case PythonProfiler::py_spy: return "py_spy.txt";
    case PythonProfiler::cprofile: return "cprofile.txt";
    case PythonProfiler::pyinstrument: return "pyinstrument.txt";
  }
  return "";
}

Diagnostic no_python_profile(std::string_view why) {
  return {DiagnosticId::no_python_profile, fmt::format("no profile of Python code: {}", why), {}};
}

}  // namespace infermeter
