// validate(): whether one subject answers as another; outputs compared sample by sample; inputs with noise.
#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <memory>

#include "infermeter/data/perturb.hpp"
#include "infermeter/infermeter.hpp"
#include "python/bind/arrays.hpp"
#include "python/bind/calling_thread.hpp"
#include "python/bind/difference_figures.hpp"
#include "python/bind/errors.hpp"
#include "python/bind/launcher.hpp"
#include "python/bind/parts.hpp"

namespace nb = nanobind;

namespace infermeter::python {
namespace {

using Bounds = std::pair<double, double>;
using Tolerances = std::map<std::string, double>;

RunContext context_for(const Plan& plan) {
  RunContext context;
  context.launcher = value_or_raise(launcher_of_this_python(plan.backend_path));
  context.cache = default_cache();
  return context;
}

std::unique_ptr<Validation> validate_plan(const Plan& plan, std::optional<std::int64_t> perturb, double noise,
                                          std::optional<double> rtol, std::optional<double> atol,
                                          const Tolerances& tolerances, std::optional<double> max_drop,
                                          std::optional<double> max_increase, const std::string& text,
                                          std::int64_t text_tokens) {
  ValidationRequest request{.plan = plan,
                            .noise = noise,
                            .tolerance = {rtol, atol},
                            .text = text,
                            .text_tokens = text_tokens,
                            .max_drop = max_drop,
                            .max_increase = max_increase};
  const bool one_by_one =
      plan.data.source != "synthetic" || plan.data.limit > 0 || !plan.data.labels.empty() || !text.empty();
  request.perturb = perturb.value_or(one_by_one ? 0 : kUsualPerturbed);
  for (const auto& [output, relative] : tolerances)
    request.by_output.emplace_back(output, AskedTolerance{relative, {}});
  RunContext context = context_for(plan);
  return std::make_unique<Validation>(
      value_or_raise(interruptible([&](const std::atomic<int>* interrupt) -> Result<Validation> {
        context.interrupt = interrupt;
        INFERMETER_TRY_DONE(use_text(request, context));
        return validate(request, context);
      })));
}

std::unique_ptr<RecordedValidation> validate_recorded_plan(const Plan& plan, std::optional<double> rtol,
                                                           std::optional<double> atol) {
  RunContext context = context_for(plan);
  return std::make_unique<RecordedValidation>(value_or_raise(interruptible([&](const std::atomic<int>* interrupt) {
    context.interrupt = interrupt;
    return validate_recorded(plan, {rtol, atol}, context);
  })));
}

Result<Done> add_all(ArrayValues& target, nb::handle arrays, const char* side) {
  for (nb::handle array : nb::list(nb::borrow(arrays))) {
    INFERMETER_TRY_DONE(add_array(target, array, fmt::format("{} {}", side, target.values.size())));
  }
  return Done{};
}

// Outputs of live models, item by item.
struct LiveComparer {
  OutputComparer comparer;

  static std::vector<Tolerance> repeated(std::size_t count, double rtol, double atol) {
    return std::vector<Tolerance>(count, {.relative = rtol, .absolute = atol});
  }
  LiveComparer(const std::vector<std::string>& names, std::optional<double> rtol, std::optional<double> atol)
      : comparer(names, rtol || atol ? repeated(names.size(), rtol.value_or(0), atol.value_or(0))
                                     : std::vector<Tolerance>{}) {}

  void add(nb::handle reference, nb::handle candidate) {
    ArrayValues expected, got;
    value_or_raise(add_all(expected, reference, "reference"));
    value_or_raise(add_all(got, candidate, "candidate"));
    nb::gil_scoped_release others_go_on;
    comparer.add(std::span(&expected.values, 1), std::span(&got.values, 1));
  }
};

nb::object array_like(const nb::object& like, const Tensor& tensor) {
  nb::object array = nb::module_::import_("numpy").attr("empty_like")(like, nb::arg("order") = "C");
  const auto address = nb::cast<std::uintptr_t>(array.attr("ctypes").attr("data"));
  std::memcpy(reinterpret_cast<void*>(address), tensor.data.data(), tensor.data.size());
  return array;
}

nb::list perturbed(nb::handle base, std::int64_t count, double noise, std::uint64_t seed,
                   const std::optional<Bounds>& valid_range, const std::string& name) {
  ArrayValues given;
  value_or_raise(add_array(given, base, "input"));
  const Tensor& tensor = given.values.front().tensor;
  nb::list arrays;
  if (!takes_noise(tensor.dtype, name)) return arrays;
  PerturbOptions options{.noise = noise, .seed = seed};
  if (valid_range) options.range = ValidRange{valid_range->first, valid_range->second};
  const Perturber perturber(tensor, options);
  for (std::int64_t item = 1; item <= count; ++item) {
    arrays.append(array_like(given.arrays.front(), perturber(static_cast<std::uint64_t>(item))));
  }
  return arrays;
}

using Shares = std::pair<std::vector<double>, std::vector<double>>;

AccuracyDrop accuracy_drop(const AccuracyTally& baseline, const AccuracyTally& candidate,
                           std::optional<double> max_drop, const std::optional<Shares>& of_items) {
  AccuracyDrop drop{.baseline = baseline.accuracy(), .candidate = candidate.accuracy()};
  drop.allowed = max_drop;
  if (of_items) {
    judge_items(drop, of_items->first, of_items->second);
    return drop;
  }
  drop.paired = value_or_raise(pair_right(baseline.right(), candidate.right()));
  judge_labels(drop);
  return drop;
}

std::optional<Bounds> bounds(const std::optional<Interval>& interval) {
  return interval ? std::optional(Bounds{interval->low, interval->high}) : std::nullopt;
}

void bind_sample(nb::module_& module) {
  nb::class_<SampleDifference> sample(module, "SampleDifference", "One output of one data item against its reference.");
  sample.def_ro("item", &SampleDifference::item)
      .def_ro("output", &SampleDifference::output, "Its position among the outputs.")
      .def_ro("within_tolerance", &SampleDifference::within_tolerance)
      .def_ro("element_count", &SampleDifference::element_count)
      .def_ro("mismatched", &SampleDifference::mismatched)
      .def_ro("non_finite_apart", &SampleDifference::non_finite_apart)
      .def_ro("max_absolute", &SampleDifference::max_absolute)
      .def_ro("max_absolute_index", &SampleDifference::max_absolute_index, "Flat, row-major.")
      .def_ro("reference_at_max", &SampleDifference::reference_at_max)
      .def_ro("candidate_at_max", &SampleDifference::candidate_at_max);
  bind_figures(sample, true);
  sample.def("__repr__", [](const SampleDifference& s) {
    return fmt::format("<SampleDifference item {}, output {}: {} of {} beyond the tolerance>", s.item, s.output,
                       s.mismatched, s.element_count);
  });
}

void bind_drop(nb::module_& module) {
  nb::class_<AccuracyDrop>(module, "AccuracyDrop", "How right two subjects are on the same labelled data.")
      .def_prop_ro(
          "baseline", [](const AccuracyDrop& d) { return d.baseline.share(); }, "Share of right rows, or pixels.")
      .def_prop_ro("candidate", [](const AccuracyDrop& d) { return d.candidate.share(); })
      .def_prop_ro("baseline_interval", [](const AccuracyDrop& d) { return bounds(d.baseline_interval); })
      .def_prop_ro("candidate_interval", [](const AccuracyDrop& d) { return bounds(d.candidate_interval); })
      .def_prop_ro(
          "change", [](const AccuracyDrop& d) { return d.change ? std::optional(d.change->difference) : std::nullopt; },
          "The candidate's share less the baseline's.")
      .def_prop_ro(
          "change_interval", [](const AccuracyDrop& d) { return d.change ? bounds(d.change->interval) : std::nullopt; },
          "95 %, of paired rows (Newcombe); of masks over items (Student).")
      .def_prop_ro(
          "p_value",
          [](const AccuracyDrop& d) { return d.change && d.paired ? std::optional(d.change->p_value) : std::nullopt; },
          "McNemar's, exact with mid-p; None of masks.")
      .def_prop_ro(
          "outcome",
          [](const AccuracyDrop& d) {
            const auto outcome = outcome_of(d);
            return outcome ? std::optional(std::string(to_string(*outcome))) : std::nullopt;
          },
          "\"pass\", \"fail\" or \"inconclusive\"; None: no drop is judged.")
      .def("__repr__", [](const AccuracyDrop& d) {
        return fmt::format("<AccuracyDrop: {:.4f} against {:.4f}>", d.candidate.share().value_or(0),
                           d.baseline.share().value_or(0));
      });
}

void bind_validation(nb::module_& module) {
  nb::class_<ComparedOutputs>(module, "ComparedOutputs", "Outputs over all items, and item by item.")
      .def_ro("whole", &ComparedOutputs::whole)
      .def_ro("samples", &ComparedOutputs::samples);
  nb::class_<Validation>(module, "Validation", "Whether one subject answers as another one does.")
      .def_prop_ro(
          "outcome", [](const Validation& v) { return to_string(outcome_of(v)); },
          "\"pass\", \"fail\" or \"inconclusive\".")
      .def_prop_ro(
          "agree", [](const Validation& v) { return v.outputs.agree; }, "Every output is within its tolerance.")
      .def_prop_ro("baseline", [](const Validation& v) { return v.baseline.subject.label; })
      .def_prop_ro("candidate", [](const Validation& v) { return v.candidate.subject.label; })
      .def_ro("items", &Validation::items, "The names of the data items.")
      .def_prop_ro(
          "outputs", [](const Validation& v) { return v.outputs.outputs; }, "Each output over all items.")
      .def_ro("samples", &Validation::samples, "By item, then by output.")
      .def_prop_ro(
          "again", [](const Validation& v) { return v.again.outputs; }, "The baseline against itself, run twice.")
      .def_ro("accuracy", &Validation::accuracy, "None: it is not known what is right.")
      .def(
          "worst", [](const Validation& v, std::size_t count) { return worst_samples(v, count); }, nb::arg("count") = 5,
          "Indices into `samples`: of each item the worst output, the worst item first.")
      .def(
          "text",
          [](const Validation& v, std::size_t width, std::size_t worst) {
            return render_validation(v, Format::table, {.color = false, .width = width}, worst);
          },
          nb::arg("width") = 80, nb::arg("worst") = 5)
      .def(
          "markdown",
          [](const Validation& v, std::size_t worst) { return render_validation(v, Format::markdown, {}, worst); },
          nb::arg("worst") = 5)
      .def(
          "json",
          [](const Validation& v, bool samples) { return render_validation(v, Format::json, {.samples = samples}); },
          nb::arg("samples") = true, "docs/schema/validation.schema.json")
      .def(
          "report_part", [](const Validation& v, bool) { return validation_part(v); }, nb::arg("samples") = true,
          "For infermeter.write_html.")
      .def(
          "__bool__", [](const Validation& v) { return outcome_of(v) == Outcome::pass; }, "Did it pass?")
      .def(
          "_repr_html_", [](const Validation& v) { return render_notebook(v); }, "What a notebook shows.")
      .def("__repr__", [](const Validation& v) {
        return fmt::format("<Validation of {} against {}: {}>", v.candidate.subject.label, v.baseline.subject.label,
                           to_string(outcome_of(v)));
      });
}

void bind_recorded(nb::module_& module) {
  nb::class_<RecordedSet>(module, "RecordedSet",
                          "What a model answers on recorded inputs, against the recorded outputs.")
      .def_ro("folder", &RecordedSet::folder)
      .def_prop_ro(
          "agree", [](const RecordedSet& s) { return s.outputs.agree; }, "Every output is within its tolerance.")
      .def_prop_ro("outputs", [](const RecordedSet& s) { return s.outputs.outputs; })
      .def("__repr__", [](const RecordedSet& s) {
        return fmt::format("<RecordedSet {}: {}>", s.folder, s.outputs.agree ? "agrees" : "differs");
      });
  nb::class_<RecordedValidation>(module, "RecordedValidation", "Whether a model answers as was recorded.")
      .def_ro("sets", &RecordedValidation::sets)
      .def_prop_ro("agree", &RecordedValidation::agree)
      .def(
          "text", [](const RecordedValidation& v) { return render_recorded(v, Format::table); },
          "A line for each set, and for each of its outputs.")
      .def(
          "json", [](const RecordedValidation& v) { return render_recorded(v, Format::json); },
          "docs/schema/recorded.schema.json")
      .def("__bool__", &RecordedValidation::agree, "Do all agree?")
      .def("__repr__", [](const RecordedValidation& v) {
        return fmt::format("<RecordedValidation of {} sets: {}>", v.sets.size(), v.agree() ? "agrees" : "differs");
      });
  module.def("validate_recorded_plan", validate_recorded_plan, nb::arg("plan"), nb::kw_only(),
             nb::arg("rtol") = nb::none(), nb::arg("atol") = nb::none());
}

}  // namespace

void bind_validate(nb::module_& module) {
  bind_sample(module);
  bind_drop(module);
  bind_validation(module);
  bind_recorded(module);
  nb::class_<LiveComparer>(module, "OutputComparer", "Compares outputs as they come; holds none of them.")
      .def(nb::init<const std::vector<std::string>&, std::optional<double>, std::optional<double>>(), nb::arg("names"),
           nb::kw_only(), nb::arg("rtol") = nb::none(), nb::arg("atol") = nb::none())
      .def("add", &LiveComparer::add, nb::arg("reference"), nb::arg("candidate"),
           nb::sig("def add(self, reference: collections.abc.Sequence[object], candidate: "
                   "collections.abc.Sequence[object]) -> None"),
           "The outputs of the next item, in order.")
      .def("result", [](const LiveComparer& live) { return live.comparer.result(); });
  module.def(
      "validate_plan", validate_plan, nb::arg("plan"), nb::kw_only(), nb::arg("perturb") = nb::none(),
      nb::arg("noise") = 0.01, nb::arg("rtol") = nb::none(), nb::arg("atol") = nb::none(),
      nb::arg("tolerances") = Tolerances{}, nb::arg("max_drop") = nb::none(), nb::arg("max_increase") = nb::none(),
      nb::arg("text") = "", nb::arg("text_tokens") = 256,
      nb::sig("def validate_plan(plan: Plan, *, perturb: int | None = None, noise: float = 0.01, rtol: float | "
              "None = None, atol: float | None = None, tolerances: dict[str, float] = {}, max_drop: float | "
              "None = None, max_increase: float | None = None, text: str = '', text_tokens: int = 256) -> Validation"));
  module.def(
      "perturbed", perturbed, nb::arg("base"), nb::arg("count"), nb::kw_only(), nb::arg("noise") = 0.01,
      nb::arg("seed") = 1, nb::arg("valid_range") = nb::none(), nb::arg("name") = "",
      nb::sig("def perturbed(base: object, count: int, *, noise: float = 0.01, seed: int = 1, valid_range: "
              "tuple[float, float] | None = None, name: str = '') -> list[numpy.ndarray]"),
      "`count` arrays like `base`, each with noise of its own that stays inside `valid_range`, or inside what "
      "each channel of `base` spans. Empty where noise makes no sense: of names (ids, classes), booleans, text.");
  module.def("accuracy_drop", accuracy_drop, nb::arg("baseline"), nb::arg("candidate"), nb::kw_only(),
             nb::arg("max_drop") = nb::none(), nb::arg("of_items") = nb::none(),
             "Of two tallies over the same labelled rows: the drop with its paired interval. `of_items`: of masks the "
             "two's shares of right pixels, mask by mask, which the interval is then computed from.");
}

}  // namespace infermeter::python
