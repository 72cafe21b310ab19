// Outputs compared: those of a run's subjects, and arrays that a program has.
#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "infermeter/infermeter.hpp"
#include "python/bind/arrays.hpp"
#include "python/bind/difference_figures.hpp"
#include "python/bind/errors.hpp"
#include "python/bind/parts.hpp"

namespace nb = nanobind;

namespace infermeter::python {
namespace {

struct NamedArrays {
  std::vector<std::string> names;
  ArrayValues arrays;
};

bool is_one_array(nb::handle outputs) {
  return !PyList_Check(outputs.ptr()) && !PyTuple_Check(outputs.ptr()) && !PyDict_Check(outputs.ptr());
}

Result<Done> add_named(NamedArrays& target, const char* side, std::string name, nb::handle array) {
  INFERMETER_TRY_DONE(add_array(target.arrays, array, fmt::format("{} '{}'", side, name)));
  target.names.push_back(std::move(name));
  return Done{};
}

// One array, a list of arrays, or a dict of them by name.
Result<NamedArrays> read_outputs(const char* side, nb::handle outputs) {
  NamedArrays read;
  if (is_one_array(outputs)) {
    INFERMETER_TRY_DONE(add_named(read, side, "output 0", outputs));
    return read;
  }
  if (PyDict_Check(outputs.ptr())) {
    for (auto [name, array] : nb::borrow<nb::dict>(outputs)) {
      INFERMETER_TRY_DONE(add_named(read, side, nb::str(name).c_str(), array));
    }
    return read;
  }
  for (nb::handle array : nb::list(outputs)) {
    INFERMETER_TRY_DONE(add_named(read, side, fmt::format("output {}", read.names.size()), array));
  }
  return read;
}

// A dict's candidate in the order of its reference.
Result<nb::object> in_order_of(nb::handle reference, nb::handle candidate) {
  if (PyDict_Check(reference.ptr()) != PyDict_Check(candidate.ptr())) {
    return usage_error("outputs by name and outputs by position cannot be compared: give two dicts, or two lists");
  }
  if (!PyDict_Check(reference.ptr())) return nb::borrow(candidate);
  nb::dict rest(nb::borrow<nb::dict>(candidate));
  nb::dict ordered;
  for (auto [name, array] : nb::borrow<nb::dict>(reference)) {
    if (!rest.contains(name)) {
      return usage_error(fmt::format("the candidate has no output '{}'", nb::str(name).c_str()));
    }
    ordered[name] = rest[name];
  }
  for (auto [name, array] : rest) {
    if (!ordered.contains(name)) {
      return usage_error(fmt::format("the reference has no output '{}'", nb::str(name).c_str()));
    }
  }
  return nb::object(ordered);
}

Result<Done> check_tolerance(const std::optional<double>& value, const char* name) {
  if (!value || (*value >= 0 && *value < 1e300)) return Done{};
  return usage_error(fmt::format("{}: expected a number of at least 0, got {}", name, *value));
}

std::vector<Tolerance> tolerances_for(const ItemValues& reference, std::string_view precision,
                                      std::optional<double> rtol, std::optional<double> atol) {
  std::vector<Tolerance> tolerances;
  for (const Value& value : reference) {
    const Tolerance usual = default_tolerance(precision, value.tensor.dtype);
    tolerances.push_back({.relative = rtol.value_or(usual.relative), .absolute = atol.value_or(usual.floor)});
  }
  return tolerances;
}

Result<OutputComparison> compared(nb::handle reference, nb::handle candidate, std::optional<double> rtol,
                                  std::optional<double> atol, const std::string& precision) {
  INFERMETER_TRY_DONE(check_tolerance(rtol, "rtol"));
  INFERMETER_TRY_DONE(check_tolerance(atol, "atol"));
  INFERMETER_TRY_DONE(precision_from_string(precision));
  INFERMETER_TRY(const nb::object ordered, in_order_of(reference, candidate));
  INFERMETER_TRY(const NamedArrays expected, read_outputs("reference", reference));
  INFERMETER_TRY(const NamedArrays got, read_outputs("candidate", ordered));
  const auto tolerances = tolerances_for(expected.arrays.values, precision, rtol, atol);
  nb::gil_scoped_release others_go_on;
  return compare_outputs(expected.names, std::span(&expected.arrays.values, 1), std::span(&got.arrays.values, 1),
                         tolerances);
}

void bind_output_difference(nb::module_& module) {
  nb::class_<Tolerance>(
      module, "Tolerance",
      "|candidate - reference| <= absolute + relative * the largest finite |reference| of the output.")
      .def_ro("relative", &Tolerance::relative)
      .def_ro("absolute", &Tolerance::absolute)
      .def_ro("floor", &Tolerance::floor, "Differences up to this say nothing.");
  nb::class_<OutputDifference> difference(module, "OutputDifference", "How far one output is from its reference.");
  difference.def_ro("name", &OutputDifference::name)
      .def_ro("dtype", &OutputDifference::dtype)
      .def_ro("shape", &OutputDifference::shape)
      .def_ro("comparable", &OutputDifference::comparable,
              "Same kind, shape and class of types; `reason` says why not.")
      .def_ro("reason", &OutputDifference::reason)
      .def_ro("within_tolerance", &OutputDifference::within_tolerance)
      .def_ro("undecided", &OutputDifference::undecided, "Why being within the tolerance says nothing; \"\": it does.")
      .def_ro("element_count", &OutputDifference::element_count)
      .def_ro("mismatched", &OutputDifference::mismatched, "Elements beyond the tolerance.")
      .def_ro("max_absolute", &OutputDifference::max_absolute,
              "None where a value is finite in one and not in the other.")
      .def_ro("max_absolute_item", &OutputDifference::max_absolute_item)
      .def_ro("max_absolute_index", &OutputDifference::max_absolute_index, "Flat, row-major.")
      .def_ro("reference_at_max", &OutputDifference::reference_at_max)
      .def_ro("candidate_at_max", &OutputDifference::candidate_at_max);
  bind_figures(difference, false);
  difference.def_ro("nan_reference", &OutputDifference::nan_reference)
      .def_ro("nan_candidate", &OutputDifference::nan_candidate)
      .def_ro("inf_reference", &OutputDifference::inf_reference)
      .def_ro("inf_candidate", &OutputDifference::inf_candidate)
      .def_ro("non_finite_apart", &OutputDifference::non_finite_apart,
              "NaN or infinite in one and not the same in the other.")
      .def_ro("tolerance", &OutputDifference::tolerance)
      .def("__repr__", [](const OutputDifference& d) {
        return fmt::format("<OutputDifference {}: {} of {} beyond the tolerance>", d.name, d.mismatched,
                           d.element_count);
      });
}

}  // namespace

void bind_outputs(nb::module_& module) {
  bind_output_difference(module);
  nb::class_<OutputComparison>(module, "OutputComparison", "Outputs against a reference's.")
      .def_ro("agree", &OutputComparison::agree, "Every output comparable and within its tolerance.")
      .def_ro("undecided", &OutputComparison::undecided, "Nothing differs, and yet nothing can be determined.")
      .def_ro("items", &OutputComparison::items, "Data items compared.")
      .def_ro("outputs", &OutputComparison::outputs)
      .def_ro("diagnostics", &OutputComparison::diagnostics)
      .def(
          "__bool__", [](const OutputComparison& c) { return c.agree; }, "Do they agree?")
      .def("__repr__", [](const OutputComparison& c) {
        return fmt::format("<OutputComparison: {} outputs {}>", c.outputs.size(),
                           c.agree       ? "agree"
                           : c.undecided ? "undecided"
                                         : "DIFFER");
      });
  module.def(
      "compare_outputs",
      [](nb::handle reference, nb::handle candidate, std::optional<double> rtol, std::optional<double> atol,
         const std::string& precision) {
        return value_or_raise(compared(reference, candidate, rtol, atol, precision));
      },
      nb::arg("reference").none(), nb::arg("candidate").none(), nb::kw_only(), nb::arg("rtol") = nb::none(),
      nb::arg("atol") = nb::none(), nb::arg("precision") = "float32",
      nb::sig("def compare_outputs(reference: object, candidate: object, *, rtol: float | None = None, atol: float | "
              "None = None, precision: str = 'float32') -> OutputComparison"),
      "Compares arrays with a reference: one array, a list of them, or a dict by name. An element agrees if |candidate "
      "- "
      "reference| <= atol + rtol * the largest finite |reference| of its output; by default as much as executing in "
      "`precision` (float32, float16, bfloat16) may cost. Arrays are not copied where they are C-contiguous.");
}

}  // namespace infermeter::python
