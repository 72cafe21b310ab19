// The parts of infermeter._core, each in the file of its name (core_samples.cpp, …).
#pragma once

#include <nanobind/nanobind.h>

namespace infermeter::python {

void bind_data(nanobind::module_& module);
void bind_diagnostics(nanobind::module_& module);
void bind_summary(nanobind::module_& module);
void bind_samples(nanobind::module_& module);
void bind_plan(nanobind::module_& module);
void bind_machine(nanobind::module_& module);
void bind_outputs(nanobind::module_& module);
void bind_metrics(nanobind::module_& module);
void bind_validate(nanobind::module_& module);
void bind_answers(nanobind::module_& module);
void bind_verdict(nanobind::module_& module);
void bind_page(nanobind::module_& module);
void bind_stacks(nanobind::module_& module);
void bind_record(nanobind::module_& module);
void bind_store(nanobind::module_& module);
void bind_run(nanobind::module_& module);
void bind_measure(nanobind::module_& module);
void bind_results(nanobind::module_& module);
void bind_gate(nanobind::module_& module);
void bind_history(nanobind::module_& module);
void bind_variants(nanobind::module_& module);

}  // namespace infermeter::python
