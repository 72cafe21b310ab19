// The figures of infermeter/fidelity/difference_figures.hpp as properties.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>

#include <string>

#include "infermeter/fidelity/difference_figures.hpp"

namespace infermeter::python {

// Of a class of C++ that is a DifferenceFigures. `of_sample`: only those that single samples have.
template <typename Class>
void bind_figures(nanobind::class_<Class>& bound, bool of_sample) {
  for (const DifferenceFigure& figure : difference_figures()) {
    if (of_sample && !figure.of_samples) continue;
    bound.def_prop_ro(
        std::string(figure.id).c_str(), [value = figure.value](const Class& of) { return of.*value; },
        std::string(figure.meaning).c_str());
  }
}

}  // namespace infermeter::python
