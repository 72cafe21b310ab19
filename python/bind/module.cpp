// infermeter._core: the public library (infermeter/infermeter.hpp) for Python. Each core_*.cpp binds one part of it;
// what is convenient in Python is written in Python, on top of this.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string>

#include "infermeter/version.hpp"
#include "python/bind/parts.hpp"

namespace nb = nanobind;

namespace {

bool is_plain(nb::handle value) {
  return nb::isinstance<nb::str>(value) || nb::isinstance<nb::int_>(value) || nb::isinstance<nb::float_>(value);
}

// "<SubjectVerdict subject=1, baseline=0>": the values that are numbers or words.
std::string plain_text(nb::handle self) {
  const nb::handle type = self.type();
  std::string text = "<" + nb::cast<std::string>(type.attr("__name__"));
  const char* before = " ";
  for (const auto name : type.attr("__dict__")) {
    if (nb::cast<std::string>(name).starts_with("_")) continue;
    const nb::object value = nb::getattr(self, name, nb::none());
    if (!is_plain(value)) continue;
    text += before + nb::cast<std::string>(name) + "=" + nb::cast<std::string>(nb::repr(value));
    before = ", ";
  }
  return text + ">";
}

// For classes that have no text of their own.
void give_texts(nb::module_& module) {
  const nb::object usual = nb::module_::import_("builtins").attr("object").attr("__repr__");
  for (const auto value : module.attr("__dict__").attr("values")()) {
    if (!nb::isinstance<nb::type_object>(value) || !nb::object(value.attr("__repr__")).is(usual)) continue;
    nb::setattr(value, "__repr__", nb::cpp_function(plain_text, nb::name("__repr__"), nb::is_method()));
  }
}

}  // namespace

NB_MODULE(_core, module) {
  using namespace infermeter::python;
  module.doc() = "The compiled part of infermeter. Use the package `infermeter`.";
  module.attr("version") = nb::str(INFERMETER_VERSION);
  bind_data(module);
  bind_diagnostics(module);
  bind_summary(module);
  bind_samples(module);
  bind_plan(module);
  bind_machine(module);
  bind_outputs(module);
  bind_metrics(module);
  bind_answers(module);
  bind_verdict(module);
  bind_page(module);
  bind_validate(module);
  bind_stacks(module);
  bind_record(module);
  bind_store(module);
  bind_run(module);
  bind_measure(module);
  bind_results(module);
  bind_gate(module);
  bind_history(module);
  bind_variants(module);
  give_texts(module);
}
