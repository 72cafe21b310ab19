// Gates: expectations of a run that is already there, judged.
#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <array>

#include "infermeter/infermeter.hpp"
#include "python/bind/errors.hpp"
#include "python/bind/parts.hpp"
#include "python/bind/record.hpp"

namespace nb = nanobind;

namespace infermeter::python {
namespace {

// A gate with what it says of a run.
struct JudgedGate {
  std::shared_ptr<MeasuredRun> run;
  Gate gate;
  GateVerdict verdict;
};

struct Evidence {
  const MeasuredRun* baseline = nullptr;
  std::string baseline_name;
  std::vector<RunRecord> earlier;
};

Result<JudgedGate> judged(const std::shared_ptr<MeasuredRun>& run, std::string_view text, std::string name,
                          const Evidence& evidence) {
  PlanDraft ignored;  // the run is there already
  INFERMETER_TRY(const GateFile file, gate_file_from_toml(text, name, ignored));
  INFERMETER_TRY(Gate gate, make_gate(file, std::move(name)));
  const RunRecord* baseline = evidence.baseline == nullptr ? nullptr : &evidence.baseline->record();
  INFERMETER_TRY_DONE(check_gate(gate, run->record().plan, baseline != nullptr));
  GateVerdict verdict = judge_gate(gate, {.run = run->record(),
                                          .verdict = run->verdict(),
                                          .baseline = baseline,
                                          .baseline_name = evidence.baseline_name,
                                          .earlier = evidence.earlier});
  return JudgedGate{.run = run, .gate = std::move(gate), .verdict = std::move(verdict)};
}

void check_expectations(std::string_view text, std::string name) {
  PlanDraft ignored;
  const GateFile file = value_or_raise(gate_file_from_toml(text, name, ignored));
  static_cast<void>(value_or_raise(make_gate(file, std::move(name))));
}

JudgedGate judge_run(const std::shared_ptr<MeasuredRun>& run, std::string_view text, std::string name,
                     const std::shared_ptr<MeasuredRun>& baseline, std::string baseline_name,
                     const std::vector<std::shared_ptr<MeasuredRun>>& earlier) {
  Evidence evidence{.baseline = baseline.get(), .baseline_name = std::move(baseline_name), .earlier = {}};
  for (const auto& one : earlier) evidence.earlier.push_back(one->record());
  return value_or_raise(judged(run, text, std::move(name), evidence));
}

ReportPart part_of_gate(const JudgedGate& judged, bool samples) {
  return gate_part(judged.run->record(), judged.run->verdict(), judged.gate, judged.verdict, {.samples = samples});
}

std::string rendered_gate(const JudgedGate& judged, std::string_view format, std::size_t width) {
  const Format form =
      value_or_raise(format_among(format, {Format::table, Format::json, Format::markdown, Format::html}, "a gate"));
  if (form == Format::html) return render_html(part_of_gate(judged, true));
  return render_gate(judged.run->record(), judged.gate, judged.verdict, form, {.width = width});
}

// An expectation with its outcome: both are needed to read either.
struct ExpectationOutcome {
  std::string expectation;
  std::string label;
  ExpectationVerdict verdict;
};

std::vector<ExpectationOutcome> outcomes(const JudgedGate& judged) {
  std::vector<ExpectationOutcome> outcomes;
  for (const ExpectationVerdict& verdict : judged.verdict.verdicts) {
    outcomes.push_back({.expectation = judged.gate.expectations[verdict.expectation].source.text,
                        .label = judged.run->record().plan.subjects[static_cast<std::size_t>(verdict.subject)].label,
                        .verdict = verdict});
  }
  return outcomes;
}

void bind_outcome(nb::module_& module) {
  nb::class_<ExpectationOutcome>(module, "ExpectationOutcome", "What became of an expectation, for one subject.")
      .def_ro("expectation", &ExpectationOutcome::expectation, "As written.")
      .def_ro("label", &ExpectationOutcome::label, "Of the subject.")
      .def_prop_ro(
          "outcome", [](const ExpectationOutcome& o) { return to_string(o.verdict.outcome); },
          "\"pass\", \"fail\" or \"inconclusive\".")
      .def_prop_ro(
          "value", [](const ExpectationOutcome& o) { return o.verdict.value; },
          "In base units: seconds, bytes, items per second, shares; None: there is none.")
      .def_prop_ro("interval", [](const ExpectationOutcome& o) { return o.verdict.interval; })
      .def_prop_ro(
          "reason", [](const ExpectationOutcome& o) { return o.verdict.reason; }, "Why, and what would help.")
      .def_prop_ro("notes", [](const ExpectationOutcome& o) { return o.verdict.notes; })
      .def("__repr__", [](const ExpectationOutcome& o) {
        return fmt::format("<ExpectationOutcome {} of {}: {}>", o.expectation, o.label, to_string(o.verdict.outcome));
      });
}

}  // namespace

void bind_gate(nb::module_& module) {
  bind_outcome(module);
  nb::class_<JudgedGate>(module, "Gate", "Expectations of a run, judged.")
      .def_prop_ro("outcomes", outcomes, "By expectation, then by subject.")
      .def_prop_ro("passed", [](const JudgedGate& g) { return g.verdict.passed; })
      .def_prop_ro("failed", [](const JudgedGate& g) { return g.verdict.failed; })
      .def_prop_ro("inconclusive", [](const JudgedGate& g) { return g.verdict.inconclusive; })
      .def_prop_ro(
          "exit_code", [](const JudgedGate& g) { return g.verdict.exit_code; }, "As `infermeter gate` has it.")
      .def("render", rendered_gate, nb::arg("format") = "table", nb::kw_only(), nb::arg("width") = 80,
           "\"table\", \"json\", \"markdown\" or \"html\".")
      .def("report_part", part_of_gate, nb::arg("samples") = true, "For infermeter.write_html.")
      .def(
          "junit", [](const JudgedGate& g) { return render_junit(g.run->record(), g.gate, g.verdict); }, "JUnit XML.")
      .def("__str__", [](const JudgedGate& g) { return rendered_gate(g, "table", 80); });
  module.def("check_expectations", check_expectations, nb::arg("text"), nb::kw_only(), nb::arg("name") = "gate",
             "Raises what is wrong with a gate file's text, as far as that can be told without a run.");
  module.def(
      "judge_gate", judge_run, nb::arg("record"), nb::arg("text"), nb::kw_only(), nb::arg("name") = "gate",
      nb::arg("baseline") = nb::none(), nb::arg("baseline_name") = "baseline",
      nb::arg("earlier") = std::vector<std::shared_ptr<MeasuredRun>>{},
      nb::sig("def judge_gate(record: Record, text: str, *, name: str = 'gate', baseline: Record | None = None, "
              "baseline_name: str = 'baseline', earlier: collections.abc.Sequence[Record] = ()) -> Gate"),
      "Holds a run against the expectations of a gate file's text (docs/gate.md). `baseline`: the run that regressions "
      "are judged against; `earlier`: runs that \"reproducible\" looks at, newest first. A plan in the text is not "
      "measured.");
}

}  // namespace infermeter::python
