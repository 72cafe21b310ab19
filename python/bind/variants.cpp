// variants(): a model's variants made and measured for a Python program.
#include <nanobind/nanobind.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <memory>

#include "infermeter/infermeter.hpp"
#include "python/bind/calling_thread.hpp"
#include "python/bind/errors.hpp"
#include "python/bind/launcher.hpp"
#include "python/bind/parts.hpp"
#include "python/bind/record.hpp"
#include "python/bind/settings.hpp"

namespace nb = nanobind;

namespace infermeter::python {
namespace {

struct MeasuredVariants {
  std::shared_ptr<MeasuredRun> run;
  VariantSet set;
};

ReportPart part_of_variants(const MeasuredVariants& variants, bool samples) {
  return variants_part(variants.run->record(), variants.run->verdict(), variants.set, {.samples = samples});
}

std::string rendered_variants(const MeasuredVariants& variants, const std::string& format, std::size_t width) {
  const Format form = value_or_raise(format_from_string(format));
  return render_variants(variants.run->record(), variants.run->verdict(), variants.set, form,
                         {.color = false, .width = width, .samples = true});
}

// A key that is not there, or None, leaves the default.
template <class T>
void take(const nb::dict& from, const char* key, T& value) {
  if (from.contains(key) && !from[key].is_none()) value = nb::cast<T>(from[key]);
}

VariantsRequest request_of(const nb::dict& asked) {
  VariantsRequest request;
  take(asked, "model", request.model);
  take(asked, "models", request.models);
  take(asked, "backends", request.backends);
  take(asked, "precisions", request.precisions);
  take(asked, "quantise", request.quantisations);
  take(asked, "graph_opt", request.graph_levels);
  take(asked, "phases", request.phases);
  take(asked, "prune", request.pruned_shares);
  take(asked, "prune_how", request.pruned_how);
  take(asked, "student", request.student);
  take(asked, "calibration", request.calibration);
  take(asked, "calibration_items", request.calibration_items);
  return request;
}

struct VariantsOutcome {
  RunRecord record;
  VariantSet set;
};

Result<VariantsOutcome> make_and_measure(PreparedVariants prepared, const VariantMakingContext& making,
                                         RunContext context) {
  INFERMETER_TRY(context.models, make_variants(prepared, making));
  context.keeps_refusals = true;
  INFERMETER_TRY(VariantsPlan planned, plan_variants(prepared.list, prepared.draft));
  INFERMETER_TRY(RunRecord record, run(std::move(planned.plan), context));
  return VariantsOutcome{std::move(record), std::move(planned.set)};
}

Result<VariantsOutcome> whole(const VariantsRequest& request, const PlanDraft& draft,
                              const VariantMakingContext& making, const RunContext& context) {
  INFERMETER_TRY(PreparedVariants prepared,
                 prepare_variants(request, draft, context.launcher, context.cache, context.interrupt));
  return make_and_measure(std::move(prepared), making, context);
}

std::shared_ptr<MeasuredVariants> variants(const nb::dict& asked, const nb::dict& settings, const nb::object& note,
                                           const std::string& command) {
  const VariantsRequest request = request_of(asked);
  PlanDraft draft;
  value_or_raise(apply_settings(draft, settings));
  CallingThread caller;
  RunContext context;
  context.launcher = value_or_raise(launcher_of_this_python(draft.plan.backend_path));
  context.cache = default_cache();
  context.interrupt = &caller.interrupt();
  context.command = command;
  VariantMakingContext making{.launcher = context.launcher, .cache = context.cache, .interrupt = context.interrupt};
  take(asked, "making_timeout", making.timeout_s);
  if (!note.is_none()) {
    making.on_note = [&](const std::string& sentence) { caller.call([&] { note(sentence); }); };
  }
  auto outcome = caller.result_of([&] { return whole(request, draft, making, context); });
  caller.raise_again();
  VariantsOutcome done = value_or_raise(std::move(outcome));
  return std::make_shared<MeasuredVariants>(
      MeasuredVariants{std::make_shared<MeasuredRun>(std::move(done.record)), std::move(done.set)});
}

}  // namespace

void bind_variants(nb::module_& module) {
  nb::class_<MeasuredVariants>(module, "Variants", "A model's variants, measured beside each other.")
      .def_ro("record", &MeasuredVariants::run, "The run that measured them.")
      .def("render", rendered_variants, nb::arg("format") = "table", nb::kw_only(), nb::arg("width") = 80,
           "\"table\", \"markdown\", \"json\" (docs/schema/variants.schema.json), \"csv\" or \"html\".")
      .def("report_part", part_of_variants, nb::arg("samples") = true, "For infermeter.write_html.")
      .def_prop_ro(
          "report",
          [](const MeasuredVariants& variants) {
            return nb::module_::import_("json").attr("loads")(rendered_variants(variants, "json", 80));
          },
          nb::sig("def report(self) -> dict[str, typing.Any]"), "The JSON report as a dict.")
      .def_prop_ro(
          "exit_code",
          [](const MeasuredVariants& variants) { return exit_code_of_variants(variants.run->verdict(), variants.set); })
      .def("__str__", [](const MeasuredVariants& variants) { return rendered_variants(variants, "table", 80); });
  module.def("variants", variants, nb::arg("request"), nb::arg("settings"), nb::arg("note") = nb::none(),
             nb::arg("command") = "",
             nb::sig("def variants(request: dict[str, object], settings: dict[str, object], note: "
                     "collections.abc.Callable[[str], object] | None = None, command: str = '') -> Variants"),
             "Makes and measures; `infermeter.variants` says how.");
}

}  // namespace infermeter::python
