// PythonLook: the launcher's part of a profile of Python code: whether there can be one, and what came of it.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "infermeter/worker/launcher.hpp"
#include "infermeter/worker/profile/py_spy.hpp"

namespace infermeter {

class PythonLook {
 public:
  // Nothing where the job asks for none. All outlive it.
  PythonLook(const Launcher& launcher, const TrialJob& job, bool runs_python, const SampleBlock& block);

  // What the worker is to know of.
  [[nodiscard]] PythonProfiler profiler() const { return why_not_.empty() ? asked_ : PythonProfiler::off; }
  // Whenever the watchdog wakes.
  void look(pid_t worker);
  // When the worker has ended: adds its stacks to the files, or why there are none to the diagnostics.
  void conclude(TrialResult& result);

 private:
  PythonProfiler asked_;
  std::string why_not_;
  std::optional<PySpy> py_spy_;
};

}  // namespace infermeter
