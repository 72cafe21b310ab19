// Pages of several reports.
#include <nanobind/nanobind.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "cli/output/output_file.hpp"
#include "infermeter/infermeter.hpp"
#include "python/bind/errors.hpp"
#include "python/bind/parts.hpp"

namespace nb = nanobind;

namespace infermeter::python {
namespace {

void write_page(const std::filesystem::path& file, const std::vector<ReportPart>& parts) {
  if (parts.empty()) raise(usage_error("a page needs at least one report"));
  value_or_raise(write_file(file, render_html(parts), true));
}

}  // namespace

void bind_page(nb::module_& module) {
  nb::class_<ReportPart>(module, "ReportPart", "A report, as it stands in a page.").def_ro("title", &ReportPart::title);
  module.def("write_page", write_page, nb::arg("file"), nb::arg("parts"),
             nb::sig("def write_page(file: str | os.PathLike[str], parts: collections.abc.Sequence[ReportPart]) -> "
                     "None"),
             "Writes a page; infermeter.write_html is the way to call it.");
}

}  // namespace infermeter::python
