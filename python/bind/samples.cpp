#include "python/bind/samples.hpp"

#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <map>

#include "infermeter/infermeter.hpp"
#include "python/bind/parts.hpp"

namespace nb = nanobind;

namespace infermeter::python {
namespace {

using Times = nb::ndarray<nb::numpy, const double, nb::ndim<1>, nb::c_contig>;

struct OwnedSamples {
  Samples samples;
  Trial trial;
};

// `self` is kept alive by the array, and with it what owns the numbers.
Times view_of(const std::vector<double>& values, nb::handle self) {
  static constexpr double none = 0;  // an array without elements must still lie somewhere
  return Times(values.empty() ? &none : values.data(), {values.size()}, self);
}

template <auto Member>
Times times(nb::handle_t<Trial> self) {
  return view_of((nb::cast<const Trial&>(self).samples)->*Member, self);
}

// What a list of trial_fields.hpp calls for each field.
template <class Record>
auto read_only(nb::class_<Record>& made) {
  return [&made](const char* name, auto member, const char* what) { made.def_ro(name, member, what); };
}

void bind_lists(nb::module_& module) {
  nb::class_<MemoryRecord> memory(module, "Memory",
                                  "Memory of the process that measured, in bytes; None: not measured.");
  memory_fields(read_only(memory));
  nb::class_<NoiseRecord> noise(module, "Noise", "What disturbed the process over its timed loop; None: not measured.");
  noise_fields(read_only(noise));
  nb::class_<ClockRecord> clock(module, "Clock", "The clock that the times were read from.");
  clock_fields(read_only(clock));
}

void bind_small_records(nb::module_& module) {
  nb::class_<Counter>(module, "Counter", "What the subject itself counted.")
      .def_ro("name", &Counter::name)
      .def_ro("unit", &Counter::unit)
      .def_ro("value", &Counter::value)
      .def("__repr__", [](const Counter& c) { return fmt::format("<Counter {} = {} {}>", c.name, c.value, c.unit); });
  nb::class_<OutputFacts>(module, "OutputFacts", "Of one output of the first data item.")
      .def_ro("name", &OutputFacts::name)
      .def_ro("dtype", &OutputFacts::dtype)
      .def_ro("shape", &OutputFacts::shape)
      .def_ro("nan_count", &OutputFacts::nan_count)
      .def_ro("inf_count", &OutputFacts::inf_count)
      .def_ro("batch_axis", &OutputFacts::batch_axis, "The dimension that is the batch; None: it is one whole.")
      .def_ro("element_count", &OutputFacts::element_count);
}

using TrialClass = nb::class_<Trial>;

void bind_identity(TrialClass& samples) {
  samples.def_ro("label", &Trial::label, "Of its subject; empty: it has none.")
      .def_prop_ro(
          "subject", [](const Trial& t) { return t.samples->subject; }, "Index into the plan's subjects.")
      .def_prop_ro(
          "process", [](const Trial& t) { return t.samples->process; }, "Which of the subject's processes.")
      .def_prop_ro(
          "position", [](const Trial& t) { return t.samples->position; }, "Where in the plan's order it ran.")
      .def_prop_ro(
          "purpose", [](const Trial& t) { return to_string(t.samples->purpose); }, "\"timed\", \"pilot\" or \"leak\".")
      .def_prop_ro(
          "started_at", [](const Trial& t) { return t.samples->started_at; }, "Seconds since 1970, UTC.")
      .def_prop_ro(
          "wall_s", [](const Trial& t) { return t.samples->wall_s; },
          "Seconds of the whole trial, start and end of its process included.");
}

void bind_end(TrialClass& samples) {
  samples
      .def_prop_ro(
          "end", [](const Trial& t) { return to_string(t.samples->end); },
          "\"ok\", \"load_failed\", \"run_failed\", \"crashed\", \"timeout\", \"out_of_memory\" or \"interrupted\".")
      .def_prop_ro(
          "phase", [](const Trial& t) { return to_string(t.samples->phase); }, "The last one reached.")
      .def_prop_ro(
          "signal", [](const Trial& t) { return t.samples->signal; }, "That ended it; 0: none.")
      .def_prop_ro(
          "message", [](const Trial& t) { return t.samples->message; }, "One sentence; empty if ok.")
      .def_prop_ro(
          "stderr_tail", [](const Trial& t) { return t.samples->stderr_tail; }, "The end of its error output.");
}

void bind_seconds(TrialClass& samples) {
  samples.def_prop_ro(
             "open_s", [](const Trial& t) { return t.samples->open_s; }, "Seconds: the runtime's library.")
      .def_prop_ro(
          "load_s", [](const Trial& t) { return t.samples->load_s; },
          "Seconds: the model, and compiling where the runtime does not tell them apart.")
      .def_prop_ro(
          "compile_s", [](const Trial& t) { return t.samples->compile_s; }, "Seconds.")
      .def_prop_ro(
          "first_inference_s", [](const Trial& t) { return t.samples->first_inference_s; }, "Seconds.")
      .def_prop_ro(
          "ready_s", [](const Trial& t) { return t.samples->ready_s; },
          "Seconds from the start of the process to its first timed iteration.");
}

void bind_times(TrialClass& samples) {
  samples
      .def_prop_ro("begin_s", times<&Samples::begin_s>,
                   "Begin of each timed iteration, seconds since the trial's origin.")
      .def_prop_ro("end_s", times<&Samples::end_s>, "End of each timed iteration, seconds since the trial's origin.")
      .def_prop_ro("warmup_begin_s", times<&Samples::warmup_begin_s>, "Seconds; of the first 4096 warm-up iterations.")
      .def_prop_ro("warmup_end_s", times<&Samples::warmup_end_s>, "Seconds; of the first 4096 warm-up iterations.")
      .def_prop_ro(
          "warmup_iterations", [](const Trial& t) { return t.samples->warmups(); }, "All of them.")
      .def_prop_ro("memory_bytes", times<&Samples::memory_bytes>,
                   "Resident memory after each timed iteration; empty unless it is a leak trial.")
      .def_prop_ro(
          "latencies_s",
          [](nb::handle_t<Trial> self) { return view_of(nb::cast<const Trial&>(self).latencies_s(), self); },
          "Seconds of each timed iteration.")
      .def(
          "__len__", [](const Trial& t) { return t.samples->iterations(); }, "Timed iterations.")
      .def_prop_ro(
          "items_per_iteration", [](const Trial& t) { return t.samples->items_per_iteration; }, "The batch size.");
}

void bind_facts(TrialClass& samples) {
  samples
      .def_prop_ro(
          "clock", [](const Trial& t) -> const ClockRecord& { return t.samples->clock; },
          nb::rv_policy::reference_internal)
      .def_prop_ro(
          "memory", [](const Trial& t) -> const MemoryRecord& { return t.samples->memory; },
          nb::rv_policy::reference_internal)
      .def_prop_ro(
          "noise", [](const Trial& t) -> const NoiseRecord& { return t.samples->noise; },
          nb::rv_policy::reference_internal)
      .def_prop_ro(
          "executed",
          [](const Trial& t) {
            return std::map<std::string, std::string>(t.samples->executed.begin(), t.samples->executed.end());
          },
          "What was really executed, as the back end reports it: dtype, threads, device, provider, runtime_version, …")
      .def_prop_ro("counters", [](const Trial& t) { return t.samples->counters; })
      .def_prop_ro(
          "outputs", [](const Trial& t) { return t.samples->outputs; }, "Of the first data item.")
      .def_prop_ro(
          "input_digest", [](const Trial& t) { return t.samples->input_digest; }, "Of the first data item's bytes.")
      .def_prop_ro(
          "output_digest", [](const Trial& t) { return t.samples->output_digest; }, "Of the outputs for it.")
      .def_prop_ro("diagnostics", [](const Trial& t) { return t.samples->diagnostics; });
}

// One trial alone: figures without intervals, which need processes of their own.
Summary summarise_one(const Trial& trial) { return summarise(std::span(trial.samples, 1), {}); }

}  // namespace

std::shared_ptr<Trial> own_trial(Samples samples, std::string label) {
  auto owned = std::make_shared<OwnedSamples>(OwnedSamples{std::move(samples), {}});
  owned->trial.samples = &owned->samples;
  owned->trial.label = std::move(label);
  return {owned, &owned->trial};
}

void bind_samples(nb::module_& module) {
  bind_lists(module);
  bind_small_records(module);
  TrialClass samples(module, "Samples",
                     "The record of one trial. Arrays are read-only views without copies that keep it alive.");
  bind_identity(samples);
  bind_end(samples);
  bind_seconds(samples);
  bind_times(samples);
  bind_facts(samples);
  samples
      .def("summary", summarise_one,
           "What these samples say: percentiles, throughput, memory. Intervals need several processes.")
      .def(
          "to_json", [](const Trial& t) { return samples_to_json(*t.samples); },
          "Everything but the times, as the store keeps it.")
      .def("__repr__", [](const Trial& t) {
        return fmt::format("<Samples {}process {}: {}, {} iterations>", t.label.empty() ? "" : t.label + ", ",
                           t.samples->process, to_string(t.samples->end), t.samples->iterations());
      });
}

}  // namespace infermeter::python
