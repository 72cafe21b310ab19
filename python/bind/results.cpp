// Results: named measurements of a program's own.
#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "infermeter/infermeter.hpp"
#include "python/bind/errors.hpp"
#include "python/bind/parts.hpp"
#include "python/bind/record.hpp"

namespace nb = nanobind;

namespace infermeter::python {
namespace {

using SharedResult = std::shared_ptr<NamedResult>;

// A copy: Results gives no promise beyond the next add or clear.
SharedResult copy_of_result(const NamedResult& result) { return std::make_shared<NamedResult>(result); }

void add_samples(Results& results, const std::string& name, const std::vector<std::shared_ptr<Trial>>& trials) {
  std::vector<Samples> samples;
  for (const auto& trial : trials) samples.push_back(*trial->samples);
  results.add(name, std::move(samples));
}

SharedResult get(const Results& results, const std::string& name) {
  const NamedResult* result = results.get(name);
  return result == nullptr ? nullptr : copy_of_result(*result);
}

// A missing key's sentence is the library's own.
SharedResult at(const Results& results, const std::string& name) {
  if (results.get(name) == nullptr) raise(results.compare(name, name).error());
  return get(results, name);
}

std::vector<SharedResult> all(const Results& results) {
  std::vector<SharedResult> copies;
  for (const NamedResult& result : results.all()) copies.push_back(copy_of_result(result));
  return copies;
}

void bind_result_comparison(nb::module_& module) {
  nb::class_<NamedComparison>(module, "NamedComparison", "Two named results against each other.")
      .def_ro("baseline", &NamedComparison::baseline)
      .def_ro("candidate", &NamedComparison::candidate)
      .def_ro("speedup", &NamedComparison::speedup, "By the median latency; 2: half the time.")
      .def_ro("memory_change_bytes", &NamedComparison::memory_change_bytes,
              "Peak memory; positive: the candidate needs more.")
      .def_ro("is_improvement", &NamedComparison::is_improvement,
              "True only if the whole interval of the speed-up lies above 1.");
}

void bind_named_result(nb::module_& module) {
  nb::class_<NamedResult>(module, "NamedResult", "One named subject with all its trials.")
      .def_ro("name", &NamedResult::name)
      .def_ro("summary", &NamedResult::summary)
      .def_prop_ro("samples",
                   [](const NamedResult& result) {
                     std::vector<std::shared_ptr<Trial>> trials;
                     for (const Samples& samples : result.trials) trials.push_back(own_trial(samples, result.name));
                     return trials;
                   })
      .def("speedup_vs", &NamedResult::speedup_vs, nb::arg("baseline"),
           "How many times as fast as `baseline`, by the median latency; with its interval where both have two trials.")
      .def("memory_change_vs", &NamedResult::memory_change_vs, nb::arg("baseline"),
           "Peak resident memory less that of `baseline`, bytes.")
      .def("__repr__", [](const NamedResult& result) {
        return fmt::format("<NamedResult {}: {} trials>", result.name, result.trials.size());
      });
}

}  // namespace

void bind_results(nb::module_& module) {
  bind_result_comparison(module);
  bind_named_result(module);
  nb::class_<Results>(module, "Results", "Named measurements that can be got, listed, compared, cleared and reported.")
      .def(nb::init<>())
      .def("add", add_samples, nb::arg("name"), nb::arg("samples"), "Adds trials under a name, to those that it has.")
      .def(
          "add",
          [](Results& results, const std::string& name, const std::shared_ptr<Trial>& trial) {
            add_samples(results, name, {trial});
          },
          nb::arg("name"), nb::arg("samples"))
      .def(
          "add", [](Results& results, const MeasuredRun& run) { results.add(run.record()); }, nb::arg("record"),
          "Adds every subject of a run, under its label.")
      .def("get", get, nb::arg("name"), nb::sig("def get(self, name: str) -> NamedResult | None"),
           "None: no such name.")
      .def("__getitem__", at, nb::arg("name"))
      .def("__contains__", [](const Results& results, const std::string& name) { return results.get(name) != nullptr; })
      .def("__len__", [](const Results& results) { return results.all().size(); })
      .def("all", all, "In the order in which they were first added.")
      .def(
          "compare",
          [](const Results& results, const std::string& baseline, const std::string& candidate) {
            return value_or_raise(results.compare(baseline, candidate));
          },
          nb::arg("baseline"), nb::arg("candidate"))
      .def("clear", &Results::clear)
      .def(
          "to_record", [](const Results& results) { return std::make_shared<MeasuredRun>(results.to_record()); },
          "A record of all, the first as the baseline, of which every report can be made.");
}

}  // namespace infermeter::python
