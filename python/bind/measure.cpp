// measure(): a Python callable timed in this process, by the loop that workers use.
#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <thread>

#include "infermeter/infermeter.hpp"
#include "python/bind/errors.hpp"
#include "python/bind/parts.hpp"
#include "python/bind/samples.hpp"

namespace nb = nanobind;

namespace infermeter::python {
namespace {

// The interpreter asks a thread to give up its lock when another one has waited for 5 ms, wherever it is then. Whoever
// is given a turn before that, between two iterations, does not ask within one.
constexpr double kBetweenTurns_s = 2e-3;
constexpr std::chrono::microseconds kTurn{50};  // time enough for a waiting thread to wake up and take the lock

// An iteration is what `callable()` is in a Python loop: the call, and dropping what it returned, with the GIL. What
// raises ends the loop and waits as Python's current exception.
struct PythonCallable {
  PyObject* callable;
  std::atomic<int>& interrupt;
  // How many threads Python has started: the stable ABI has no other way to ask.
  nb::object started_threads = nb::module_::import_("_thread").attr("_count");
  double last_turn_s = 0;

  // In the main thread, one that was started; in one of those, the main thread.
  [[nodiscard]] bool has_other_threads() const { return nb::cast<int>(started_threads()) > 0; }

  // Between iterations: other threads' turn, and signals.
  [[nodiscard]] bool prepare(std::uint64_t) {
    if (monotonic_s() - last_turn_s > kBetweenTurns_s) {
      if (has_other_threads()) {
        nb::gil_scoped_release others_go_on;
        std::this_thread::sleep_for(kTurn);
      }
      last_turn_s = monotonic_s();
    }
    if (PyErr_CheckSignals() == 0) return true;
    interrupt = 1;
    return false;
  }
  [[nodiscard]] bool operator()() const {
    PyObject* const result = PyObject_CallNoArgs(callable);
    if (result == nullptr) {
      interrupt = PyErr_ExceptionMatches(PyExc_KeyboardInterrupt) != 0 ? 1 : 0;
      return false;
    }
    Py_DECREF(result);
    return true;
  }
};

Result<Stopping> stopping_of(std::int64_t warmup, std::optional<std::int64_t> iterations,
                             std::optional<double> duration_s, std::int64_t items_per_iteration) {
  if (iterations && duration_s) return usage_error("'iterations' and 'duration_s' exclude each other");
  Stopping stopping{.warmup = warmup, .iterations = iterations, .duration_s = duration_s};
  if (!iterations && !duration_s) stopping.iterations = Stopping{}.iterations;
  if (warmup < 0) return usage_error(fmt::format("warmup: expected a number of at least 0, got {}", warmup));
  if (iterations && *iterations < 1) {
    return usage_error(fmt::format("iterations: expected a number of at least 1, got {}", *iterations));
  }
  if (duration_s && !(*duration_s > 0 && *duration_s < 1e9)) {
    return usage_error(fmt::format("duration_s: expected a time above 0, in seconds, got {}", *duration_s));
  }
  if (items_per_iteration < 1) {
    return usage_error(
        fmt::format("items_per_iteration: expected a number of at least 1, got {}", items_per_iteration));
  }
  return stopping;
}

std::shared_ptr<Trial> measure_callable(nb::handle callable, std::int64_t warmup,
                                        std::optional<std::int64_t> iterations, std::optional<double> duration_s,
                                        std::int64_t items_per_iteration) {
  const Stopping stopping = value_or_raise(stopping_of(warmup, iterations, duration_s, items_per_iteration));
  if (PyCallable_Check(callable.ptr()) == 0) {
    raise(usage_error(fmt::format("measure needs something that can be called without arguments, got a {}",
                                  nb::inst_name(callable).c_str())));
  }
  std::atomic<int> interrupt{0};
  PythonCallable step{callable.ptr(), interrupt};
  Samples samples = measure(step, stopping, {.items_per_iteration = items_per_iteration, .interrupt = &interrupt});
  if (PyErr_Occurred() == nullptr) return own_trial(std::move(samples));
  nb::python_error raised;
  // What was measured until Ctrl-C goes with the exception.
  if (interrupt != 0) nb::setattr(raised.value(), "samples", nb::cast(own_trial(std::move(samples))));
  throw raised;
}

}  // namespace

void bind_measure(nb::module_& module) {
  module.def(
      "measure", measure_callable, nb::arg("callable").none(), nb::kw_only(), nb::arg("warmup") = 10,
      nb::arg("iterations") = nb::none(), nb::arg("duration_s") = nb::none(), nb::arg("items_per_iteration") = 1,
      nb::sig("def measure(callable: collections.abc.Callable[[], object], *, warmup: int = 10, iterations: int | None "
              "= None, duration_s: float | None = None, items_per_iteration: int = 1) -> Samples"),
      "Calls `callable` once, then `warmup` times, then timed: `iterations` times (default: 100), or until the timed "
      "calls took `duration_s` seconds. Times are seconds. What it raises passes through. Other threads may run "
      "between iterations, outside of the timed region; Ctrl-C raises KeyboardInterrupt, with what was measured "
      "as its attribute `samples`.");
}

}  // namespace infermeter::python
