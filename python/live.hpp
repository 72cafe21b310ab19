// Live subjects: objects of this process, measured in it by the same run() that measures models in workers.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <map>
#include <string>

#include "infermeter/run/run.hpp"
#include "python/bind/arrays.hpp"

namespace infermeter::python {

// By the names that subjects call their models: "live:NAME". Each is a LiveSubject of infermeter/live.py, with `opener`
// (opens the runtime that runs it), `place` (what the runtime is to load), `inputs` (arrays, or None: as the plan
// says), `accuracy`, and `error`, which is set to what it raised.
class LiveSubjects {
 public:
  explicit LiveSubjects(nanobind::handle subjects);  // dict; None: there are none. Outlives the run.
  LiveSubjects(const LiveSubjects&) = delete;
  LiveSubjects& operator=(const LiveSubjects&) = delete;

  // Nothing is changed where there are none. Called, and destroyed, with the GIL held; trials take it by themselves.
  // `interrupt` is what context.interrupt looks at: a signal during a live trial sets it.
  void attach(RunContext& context, std::atomic<int>& interrupt);
  // What a handler of a signal raised during a live trial (KeyboardInterrupt); empty: none.
  [[nodiscard]] nanobind::object interruption() const { return interruption_; }

 private:
  struct One {
    nanobind::object subject;
    ArrayValues inputs;
  };
  [[nodiscard]] TrialResult trial(const One& one, const TrialJob& job, const TrialHooks& hooks,
                                  std::atomic<int>& interrupt);

  std::map<std::string, One> subjects_;
  nanobind::object interruption_;
};

}  // namespace infermeter::python
