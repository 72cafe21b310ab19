// Call stacks of profile trials for Python.
#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <string>
#include <vector>

#include "infermeter/infermeter.hpp"
#include "python/bind/parts.hpp"

namespace nb = nanobind;

namespace infermeter::python {
namespace {

nb::object stack_text(std::string_view text) {
  return nb::steal(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
}

// Frames are made once: there are many more samples than frames.
nb::list samples_of(const TrialStacks& self) {
  std::vector<nb::object> frames, threads;
  for (const StackFrame& frame : self.stacks.frames) frames.push_back(stack_text(frame_text(frame)));
  for (const std::string& thread : self.stacks.threads) threads.push_back(stack_text(thread));
  nb::list samples;
  for (const StackSample& sample : self.stacks.samples) {
    nb::list stack;
    for (const std::uint32_t frame : sample.frames) stack.append(frames.at(frame));
    const nb::object thread = sample.thread < threads.size() ? threads[sample.thread] : stack_text("");
    samples.append(nb::make_tuple(thread, nb::tuple(stack), sample.weight));
  }
  return samples;
}

}  // namespace

void bind_stacks(nb::module_& module) {
  nb::class_<TrialStacks>(module, "Stacks", "What the worker of one profile trial was seen at, while it was timed.")
      .def_ro("position", &TrialStacks::position, "Of its trial: an index into Record.side_samples.")
      .def_ro("method", &TrialStacks::method,
              "\"perf_event\", \"perf_event_dwarf\", \"sigprof\", \"py_spy\", \"cprofile\" or \"pyinstrument\".")
      .def_ro("detail", &TrialStacks::detail, "How it was looked at, what that costs, and what could not be had.")
      .def_ro("is_python", &TrialStacks::is_python, "Frames are Python's.")
      .def_prop_ro(
          "unit", [](const TrialStacks& self) { return self.stacks.unit; },
          "Of weights: \"s\" or \"samples\", over all timed iterations of the trial.")
      .def_prop_ro(
          "cut", [](const TrialStacks& self) { return self.stacks.cut; }, "There was more than is kept.")
      .def_prop_ro("samples", samples_of, nb::sig("def samples(self) -> list[tuple[str, tuple[str, ...], float]]"),
                   "Thread, frames with the outermost first, weight.")
      .def("__repr__", [](const TrialStacks& self) {
        return fmt::format("<Stacks {}: {} samples of trial {}>", self.method, self.stacks.samples.size(),
                           self.position);
      });
}

}  // namespace infermeter::python
