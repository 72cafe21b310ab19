// The worker's part of a profile of Python code: a profiler that runs inside the program around the timed iterations.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "infermeter/diagnostics/diagnostic.hpp"
#include "infermeter/diagnostics/result.hpp"
#include "infermeter/plan/plan.hpp"

namespace infermeter {

// What a program that hosts Python does in the thread of the timed iterations. Both are empty in one that hosts none.
struct PythonProfileHooks {
  std::function<Result<Done>(PythonProfiler)> begin{};
  std::function<Result<std::string>(PythonProfiler)> end{};  // collapsed stacks; none of a profiler outside of it
};

class PythonProfile {
 public:
  PythonProfile(PythonProfileHooks hooks, PythonProfiler profiler) : hooks_(std::move(hooks)), profiler_(profiler) {}
  // Right before the timed iterations, and right after them. What cannot be is said, and takes nothing else away.
  [[nodiscard]] std::vector<Diagnostic> begin();
  [[nodiscard]] std::vector<Diagnostic> end();
  [[nodiscard]] const std::string& stacks() const { return stacks_; }  // when it has ended; empty: none

 private:
  PythonProfileHooks hooks_;
  PythonProfiler profiler_;
  bool runs_ = false;
  std::string stacks_;
};

// The ProfileFile of its collapsed stacks: "py_spy.txt", "cprofile.txt", "pyinstrument.txt"; of none "".
[[nodiscard]] std::string python_profile_file(PythonProfiler profiler);

[[nodiscard]] Diagnostic no_python_profile(std::string_view why);

}  // namespace infermeter
