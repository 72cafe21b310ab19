// What a run says first: its answers and its checklist.
#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "infermeter/infermeter.hpp"
#include "python/bind/parts.hpp"

namespace nb = nanobind;

namespace infermeter::python {

void bind_answers(nb::module_& module) {
  nb::class_<AnswerNeed>(module, "AnswerNeed", "What would settle an answer.")
      .def_ro("more", &AnswerNeed::more)
      .def_ro("what", &AnswerNeed::what, "\"pairs\" or \"processes\" (of each subject).")
      .def_ro("total", &AnswerNeed::total, "With those that there are.")
      .def_ro("seconds", &AnswerNeed::seconds, "About how long that takes; None: not known.");
  nb::class_<Answer>(module, "Answer", "What was asked, and what was found, as data.")
      .def_prop_ro(
          "topic", [](const Answer& a) { return to_string(a.topic); }, "\"speed\", \"outputs\", \"leak\", ….")
      .def_prop_ro(
          "kind", [](const Answer& a) { return to_string(a.kind); },
          "\"faster\", \"slower\", \"equivalent\", \"undecided\", \"outputs_differ\", \"failed\", \"leak\", ….")
      .def_prop_ro(
          "tone", [](const Answer& a) { return to_string(a.tone); },
          "\"good\", \"plain\", \"faint\", \"warning\" or \"bad\".")
      .def_ro("subjects", &Answer::subjects, "Indices into the plan's subjects.")
      .def_ro("baseline", &Answer::baseline, "Index into the plan's subjects.")
      .def_ro("metric", &Answer::metric, "What `value` is of; \"\": there is no figure.")
      .def_ro("value", &Answer::value, "Of topic \"speed\": above 1 the subject is better; otherwise in `unit`.")
      .def_ro("interval", &Answer::interval)
      .def_ro("unit", &Answer::unit)
      .def_ro("n", &Answer::n)
      .def_ro("n_of", &Answer::n_of)
      .def_ro("reason", &Answer::reason)
      .def_ro("needed", &Answer::needed, "What would settle it; None: nothing, or it is settled.")
      .def_ro("besides", &Answer::besides, "What is said in the same sentence: memory, outputs.")
      .def("__repr__", [](const Answer& a) { return fmt::format("<Answer: {}>", to_string(a.kind)); });
  nb::class_<Check>(module, "Check", "A row of the checklist.")
      .def_ro("name", &Check::name)
      .def_prop_ro(
          "outcome", [](const Check& c) { return c.outcome ? std::optional(to_string(*c.outcome)) : std::nullopt; },
          "\"pass\", \"fail\" or \"inconclusive\"; None: not asked for, or nothing to check.")
      .def_ro("detail", &Check::detail)
      .def_ro("is_caveat", &Check::is_caveat, "It says how far to trust the answers, and decides nothing.");
}

}  // namespace infermeter::python
