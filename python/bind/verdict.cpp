// What a run says: per subject, and of a comparison.
#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "infermeter/infermeter.hpp"
#include "python/bind/errors.hpp"
#include "python/bind/parts.hpp"

namespace nb = nanobind;

namespace infermeter::python {
namespace {

void bind_leak(nb::module_& module) {
  nb::class_<LeakEstimate>(module, "LeakEstimate", "Does memory grow with the iterations?")
      .def_prop_ro(
          "verdict", [](const LeakEstimate& l) { return to_string(l.verdict); }, "As reports write it.")
      .def_ro("bytes_per_iteration", &LeakEstimate::bytes_per_iteration)
      .def_ro("interval", &LeakEstimate::interval, "Of the slope, 95 %; None with too few points.")
      .def_ro("growth_bytes", &LeakEstimate::growth_bytes, "Over the part that is judged.")
      .def_ro("reason", &LeakEstimate::reason);
}

void bind_accuracy_verdict(nb::module_& module) {
  nb::class_<PairedRight>(module, "PairedRight", "Rows by who is right: this subject, its reference, both, neither.")
      .def_ro("both", &PairedRight::both)
      .def_ro("reference_only", &PairedRight::reference_only)
      .def_ro("candidate_only", &PairedRight::candidate_only)
      .def_ro("neither", &PairedRight::neither);
  nb::class_<SubjectAccuracy>(module, "SubjectAccuracy", "How right a subject is, as counts.")
      .def_ro("subject", &SubjectAccuracy::subject, "Index into the plan's subjects.")
      .def_prop_ro(
          "output", [](const SubjectAccuracy& a) { return a.accuracy.output; }, "That was read as scores.")
      .def_prop_ro(
          "labels", [](const SubjectAccuracy& a) { return a.accuracy.labels; }, "None: masks were used.")
      .def_prop_ro(
          "masks", [](const SubjectAccuracy& a) { return a.accuracy.masks; }, "None: labels were used.")
      .def_ro("reference", &SubjectAccuracy::reference, "The first subject of its group; None: it is that.")
      .def_ro("paired", &SubjectAccuracy::paired, "With the reference's rows; None of masks.");
  nb::class_<PairedProportions>(module, "AccuracyChange", "Against the first subject of the group, on the same rows.")
      .def_ro("difference", &PairedProportions::difference, "This one's share less the first one's.")
      .def_ro("interval", &PairedProportions::interval, "Newcombe (1998), paired, method 10.")
      .def_ro("p_value", &PairedProportions::p_value, "McNemar's exact test with mid-p.");
  nb::class_<AccuracyVerdict>(module, "AccuracyVerdict", "How right a subject is.")
      .def_ro("share", &AccuracyVerdict::share, "Of rows, or of pixels, that are right; None: none has a label.")
      .def_ro("interval", &AccuracyVerdict::interval, "Wilson's, 95 %; None of pixels.")
      .def_ro("change", &AccuracyVerdict::change, "None: it is the first one, or there are no pairs.")
      .def_prop_ro("measured", [](const AccuracyVerdict& v) { return v.measured; }, nb::rv_policy::reference_internal);
}

void bind_recommendation(nb::module_& module) {
  nb::class_<Recommendation>(module, "Recommendation", "What a subject is better or worse at than its baseline.")
      .def_prop_ro(
          "kind", [](const Recommendation& r) { return to_string(r.kind); },
          "\"faster\", \"less_memory\", \"smaller_model\", \"accuracy_maintained\", ….")
      .def_ro("subject", &Recommendation::subject, "Index into the plan's subjects.")
      .def_ro("baseline", &Recommendation::baseline, "Index into the plan's subjects.")
      .def_ro("value", &Recommendation::value, "A ratio of times or sizes, bytes, or a difference of shares.")
      .def_ro("interval", &Recommendation::interval, "None: a fact. Of memory: of the ratio.")
      .def_ro("more_rows", &Recommendation::more_rows, "With labels, that it would take to tell.")
      .def_prop_ro(
          "text",
          [](const Recommendation& r) {
            const Sentence sentence = recommendation_sentence(r);
            return fmt::format("{} {}", sign_of(sentence.tone), sentence.text);
          },
          "\"✓ 1.82x faster than baseline\"")
      .def("__repr__", [](const Recommendation& r) { return fmt::format("<Recommendation: {}>", to_string(r.kind)); });
}

void bind_subject_verdict(nb::module_& module) {
  nb::class_<SubjectOutputs>(module, "SubjectOutputs", "A subject's outputs against those of its group's first one.")
      .def_ro("subject", &SubjectOutputs::subject)
      .def_ro("reference", &SubjectOutputs::reference, "The subject whose outputs were the reference.")
      .def_ro("comparison", &SubjectOutputs::comparison);
  nb::class_<SubjectVerdict>(module, "SubjectVerdict", "What a run says of one subject.")
      .def_ro("subject", &SubjectVerdict::subject, "Index into the plan's subjects.")
      .def_ro("summary", &SubjectVerdict::summary)
      .def_ro("baseline", &SubjectVerdict::baseline, "The first subject of its group; None for that one itself.")
      .def_ro("ratios", &SubjectVerdict::ratios, "Against the baseline: latency_p50, throughput, memory_peak.")
      .def_prop_ro(
          "direction",
          [](const SubjectVerdict& v) {
            return v.direction ? std::optional(std::string(to_string(*v.direction))) : std::nullopt;
          },
          "Against the baseline: \"faster\", \"slower\", \"equivalent\" (of a comparison), \"unresolved\"; None: "
          "there is none.")
      .def_prop_ro(
          "outputs", [](const SubjectVerdict& v) { return v.outputs; }, nb::rv_policy::reference_internal,
          "None: not compared.")
      .def_ro("leak", &SubjectVerdict::leak, "Of its leak trial; None: it has none.")
      .def_prop_ro(
          "accuracy", [](const SubjectVerdict& v) { return v.accuracy ? &*v.accuracy : nullptr; },
          nb::rv_policy::reference_internal, nb::sig("def accuracy(self) -> AccuracyVerdict | None"),
          "None: there are no labels.");
}

void bind_paired(nb::module_& module) {
  nb::class_<PairedComparison>(module, "PairedComparison",
                               "One metric of a candidate against the baseline. Differences and effects are of natural "
                               "logarithms, candidate less "
                               "baseline, turned so that positive is worse.")
      .def_ro("baseline", &PairedComparison::baseline, "Index into the plan's subjects.")
      .def_ro("candidate", &PairedComparison::candidate, "Index into the plan's subjects.")
      .def_ro("metric", &PairedComparison::metric)
      .def_prop_ro(
          "differences",
          [](nb::handle_t<PairedComparison> self) {
            const auto& differences = nb::cast<const PairedComparison&>(self).differences;
            return nb::ndarray<nb::numpy, const double, nb::ndim<1>>(differences.data(), {differences.size()}, self);
          },
          "One per complete pair, in the order of pairs.")
      .def_ro("incomplete", &PairedComparison::incomplete, "Pairs that gave no value.")
      .def_ro("dropped", &PairedComparison::dropped, "Pairs left out as disturbed, where that was asked for.")
      .def_ro("baseline_processes", &PairedComparison::baseline_processes, "Of two runs; 0 of pairs.")
      .def_ro("candidate_processes", &PairedComparison::candidate_processes, "Of two runs; 0 of pairs.")
      .def_ro("withheld", &PairedComparison::withheld,
              "Why no direction is reported whatever the interval says; or \"\".")
      .def_prop_ro(
          "direction", [](const PairedComparison& p) { return to_string(p.direction); },
          "\"faster\", \"slower\", \"equivalent\" or \"unresolved\".")
      .def_ro("estimate", &PairedComparison::estimate, "Hodges–Lehmann; None without a pair.")
      .def_ro("interval", &PairedComparison::interval)
      .def_ro("t", &PairedComparison::t, "Beside it: the t interval of this sample alone.")
      .def_ro("sign", &PairedComparison::sign, "Beside it: the sign interval of this sample alone.")
      .def_ro("p", &PairedComparison::p, "Of the signed-rank test.")
      .def_ro("standard_deviation", &PairedComparison::standard_deviation)
      .def_ro("spread", &PairedComparison::spread, "How much a pair varies, robust: what the test is up against.")
      .def_ro("minimum_effect", &PairedComparison::minimum_effect,
              "The effect that the looks at these pairs find with 80 % power.")
      .def_ro("more_pairs", &PairedComparison::more_pairs, "That it would take to resolve; only while unresolved.")
      .def("__repr__", [](const PairedComparison& p) {
        return fmt::format("<PairedComparison {}: {}>", p.metric, to_string(p.direction));
      });
}

void bind_comparison_verdict(nb::module_& module) {
  nb::class_<Look>(module, "Look", "One look at the pairs so far.")
      .def_ro("pairs", &Look::pairs)
      .def_ro("level", &Look::level)
      .def_ro("p", &Look::p)
      .def_ro("estimate", &Look::estimate)
      .def_ro("interval", &Look::interval)
      .def_prop_ro("direction", [](const Look& l) { return to_string(l.direction); });
  nb::class_<ComparisonVerdict>(module, "Comparison", "The answer to a plan's question.")
      .def_ro("paired", &ComparisonVerdict::paired, "False: of two runs, which were not interleaved.")
      .def_ro("primary", &ComparisonVerdict::primary, "Per candidate, in the plan's order.")
      .def_ro("looks", &ComparisonVerdict::looks, "Of each candidate, all that were taken.")
      .def_ro("exploratory", &ComparisonVerdict::exploratory, "Other metrics of each candidate.")
      .def_ro("pairs", &ComparisonVerdict::pairs)
      .def_ro("resolved", &ComparisonVerdict::resolved, "Every candidate's direction is known.")
      .def_ro("steady", &ComparisonVerdict::steady, "False: the times of some pilot kept changing.")
      .def_ro("hopeless", &ComparisonVerdict::hopeless, "Three pairs, and none of them complete.")
      .def_ro("ended", &ComparisonVerdict::ended, "No more pairs will come.")
      .def_ro("wall_s", &ComparisonVerdict::wall_s, "Seconds from the first start to the last end.");
}

void bind_tuning_verdict(nb::module_& module) {
  nb::class_<BoundVerdict>(module, "BoundVerdict", "How a setting keeps one of the constraints.")
      .def_ro("constraint", &BoundVerdict::constraint, "As it was written.")
      .def_prop_ro(
          "kept", [](const BoundVerdict& b) { return to_string(b.kept); }, "\"yes\", \"no\" or \"unknown\".")
      .def_ro("value", &BoundVerdict::value)
      .def_ro("interval", &BoundVerdict::interval)
      .def_ro("why", &BoundVerdict::why, "There is no value or interval; or \"\".");
  nb::class_<TunedSetting>(module, "TunedSetting", "Where one setting of a race stands.")
      .def_ro("subject", &TunedSetting::subject, "Index into the plan's subjects.")
      .def_prop_ro(
          "fate", [](const TunedSetting& s) { return to_string(s.fate); },
          "\"best\", \"equal\", \"open\" (not distinguished from the best), \"worse\", \"halved\", \"bound\", "
          "\"outputs\", "
          "\"load\", \"failed\" or \"not_raced\".")
      .def_ro("reason", &TunedSetting::reason, "Of what is out; or \"\".")
      .def_ro("blocks", &TunedSetting::blocks, "Of the race that it took part in.")
      .def_ro("behind", &TunedSetting::behind, "The best one: of logarithms, positive is worse; None: it is that.")
      .def_ro("behind_interval", &TunedSetting::behind_interval, "Student's, of these blocks alone.")
      .def_ro("bounds", &TunedSetting::bounds, "Of each constraint.")
      .def_ro("on_front", &TunedSetting::on_front, "Of objective, latency, memory, size and accuracy.");
  nb::class_<TuningVerdict>(module, "Tuning", "The answer of a race.")
      .def_ro("best", &TuningVerdict::best, "Index into the plan's subjects; None: no setting is left.")
      .def_ro("second", &TuningVerdict::second, "The nearest one that may be as good, or the nearest that is worse.")
      .def_ro("decided", &TuningVerdict::decided, "Nobody is left beside the best and its equals.")
      .def_ro("out_of_time", &TuningVerdict::out_of_time, "The budget, or the number of blocks, ended the race.")
      .def_ro("settings", &TuningVerdict::settings, "In the plan's order.")
      .def_ro("blocks", &TuningVerdict::blocks, "Of the race.")
      .def_ro("against_default", &TuningVerdict::against_default,
              "The best against the first setting, in pairs measured after the choice; None: it is that one.")
      .def_ro("against_second", &TuningVerdict::against_second, "The same against the second best.")
      .def_ro("wall_s", &TuningVerdict::wall_s, "Seconds of all processes.");
}

}  // namespace

void bind_verdict(nb::module_& module) {
  bind_leak(module);
  bind_accuracy_verdict(module);
  bind_recommendation(module);
  bind_subject_verdict(module);
  bind_paired(module);
  bind_comparison_verdict(module);
  bind_tuning_verdict(module);
  nb::class_<Verdict>(module, "Verdict", "What a run says: a pure function of its record.")
      .def_ro("subjects", &Verdict::subjects, "In the plan's order.")
      .def_ro("comparison", &Verdict::comparison, "None: the plan asks no question.")
      .def_ro("tuning", &Verdict::tuning, "None: no race of settings.")
      .def_ro("answers", &Verdict::answers, "What went wrong first. `record.json()` has them in words too.")
      .def_ro("checks", &Verdict::checks, "The checklist.")
      .def_ro("diagnostics", &Verdict::diagnostics, "Everything that a reader must know, each once.")
      .def_ro(
          "exit_code", &Verdict::exit_code,
          "130 interrupted, 2 what was asked for cannot be done, 4 a worker crashed, timed out or ran out of memory, "
          "3 a model failed, 1 outputs differ, 0; the first that applies.")
      .def("__repr__", [](const Verdict& v) { return fmt::format("<Verdict: exit code {}>", v.exit_code); });
}

}  // namespace infermeter::python
