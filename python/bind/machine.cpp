// The machine, the back ends and the models that there are.
#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "infermeter/infermeter.hpp"
#include "infermeter/worker/plugin.hpp"
#include "python/bind/calling_thread.hpp"
#include "python/bind/errors.hpp"
#include "python/bind/launcher.hpp"
#include "python/bind/parts.hpp"

namespace nb = nanobind;

namespace infermeter::python {
namespace {

using EnvironmentClass = nb::class_<Environment>;

void bind_processor(EnvironmentClass& environment) {
  environment.def_ro("processor", &Environment::processor)
      .def_ro("architecture", &Environment::architecture)
      .def_ro("flags", &Environment::flags, "Instruction sets that runtimes choose kernels by.")
      .def_ro("processors_online", &Environment::processors_online)
      .def_ro("processors_usable", &Environment::processors_usable, "Affinity and cgroup quota respected.")
      .def_ro("quota_processors", &Environment::quota_processors, "The cgroup's CPU quota; None: there is none.")
      .def_ro("cores", &Environment::cores)
      .def_ro("sockets", &Environment::sockets)
      .def_ro("numa_nodes", &Environment::numa_nodes)
      .def_ro("smt_active", &Environment::smt_active)
      .def_ro("caches", &Environment::caches)
      .def_ro("governor", &Environment::governor)
      .def_ro("turbo", &Environment::turbo)
      .def_ro("invariant_tsc", &Environment::invariant_tsc)
      .def_ro("hardware_counters", &Environment::hardware_counters)
      .def_ro("perf_event_paranoid", &Environment::perf_event_paranoid);
}

void bind_system(EnvironmentClass& environment) {
  environment.def_ro("memory_total_bytes", &Environment::memory_total_bytes)
      .def_ro("memory_available_bytes", &Environment::memory_available_bytes)
      .def_ro("swap_used_bytes", &Environment::swap_used_bytes)
      .def_ro("aslr", &Environment::aslr)
      .def_ro("virtualization", &Environment::virtualization, "Empty: none was seen.")
      .def_ro("kernel", &Environment::kernel)
      .def_ro("distribution", &Environment::distribution)
      .def_ro("hostname", &Environment::hostname)
      .def_ro("nodes", &Environment::nodes, "Of a run on a cluster: each node as it was; empty: one machine.")
      .def_ro("load_1min", &Environment::load_1min)
      .def_ro("landlock_abi", &Environment::landlock_abi)
      .def_ro("seccomp", &Environment::seccomp)
      .def_ro("cgroup_v2", &Environment::cgroup_v2)
      .def_ro("infermeter_version", &Environment::infermeter_version)
      .def_ro("build", &Environment::build)
      .def_ro("git_commit", &Environment::git_commit,
              "Of the folder that the run was started in; empty: no repository.")
      .def_ro("command", &Environment::command, "The command line that repeats the run.")
      .def_prop_ro("fingerprint", machine_fingerprint, "Equal for machines whose figures may be compared.")
      .def("to_json", environment_to_json);
}

void bind_backend_info(nb::module_& module) {
  nb::class_<BackendOption>(module, "BackendOption", "An option of a back end.")
      .def_ro("key", &BackendOption::key)
      .def_ro("values", &BackendOption::values)
      .def_ro("help", &BackendOption::help);
  nb::class_<BackendInfo>(module, "BackendInfo", "A back end that was found, and whether it can be used.")
      .def_ro("name", &BackendInfo::name)
      .def_ro("plugin", &BackendInfo::plugin, "Its file.")
      .def_ro("runtime_name", &BackendInfo::runtime_name)
      .def_ro("runtime_version", &BackendInfo::runtime_version)
      .def_ro("library", &BackendInfo::library, "The runtime's.")
      .def_ro("model_formats", &BackendInfo::model_formats)
      .def_ro("devices", &BackendInfo::devices)
      .def_ro("dtypes", &BackendInfo::dtypes)
      .def_ro("options", &BackendInfo::options)
      .def_ro("concurrent_requests", &BackendInfo::concurrent_requests)
      .def_ro("error", &BackendInfo::error, "Why it cannot be used; empty: it can.")
      .def("__repr__", [](const BackendInfo& b) {
        return b.error.empty() ? fmt::format("<BackendInfo {}: {} {}>", b.name, b.runtime_name, b.runtime_version)
                               : fmt::format("<BackendInfo {}: {}>", b.name, b.error);
      });
}

void bind_models(nb::module_& module) {
  nb::class_<ZooModel>(module, "ZooModel", "A model that infermeter writes itself, the same bytes everywhere.")
      .def_prop_ro("name", [](const ZooModel& m) { return m.name; })
      .def_prop_ro("description", [](const ZooModel& m) { return m.description; })
      .def_prop_ro("input_shape", [](const ZooModel& m) { return m.input_shape; })
      .def_prop_ro("sha256", [](const ZooModel& m) { return m.sha256; })
      .def_ro("parameters", &ZooModel::parameters)
      .def_ro("size_bytes", &ZooModel::size_bytes)
      .def("__repr__", [](const ZooModel& m) { return fmt::format("<ZooModel {}: {}>", m.name, m.description); });
  nb::class_<ModelFacts>(module, "ModelFacts", "Which file was measured.")
      .def_ro("name", &ModelFacts::name, "As asked for.")
      .def_ro("path", &ModelFacts::path)
      .def_ro("format", &ModelFacts::format)
      .def_ro("sha256", &ModelFacts::sha256)
      .def_ro(
          "size_bytes", &ModelFacts::size_bytes,
          "Of what the runtime executes, where it shows that; else of the file with its weights files. 0: not known.")
      .def_ro("parameters", &ModelFacts::parameters, "Of what the runtime executes, or of the file. None: not known.")
      .def_ro("weight_files", &ModelFacts::weight_files)
      .def_ro("from_zoo", &ModelFacts::from_zoo);
}

std::vector<BackendInfo> backends(const std::filesystem::path& backend_path) {
  const Launcher launcher = value_or_raise(launcher_of_this_python(backend_path));
  return value_or_raise(interruptible([&](const std::atomic<int>* interrupt) -> Result<std::vector<BackendInfo>> {
    return probe_backends(launcher, {.interrupt = interrupt});
  }));
}

std::string plugin_path(const std::string& name) {
  const Launcher launcher = value_or_raise(launcher_of_this_python({}));
  return value_or_raise(find_plugin(launcher.plugin_folders, name)).string();
}

std::filesystem::path zoo_model_path(const std::string& name) {
  const auto built = [&] {
    nb::gil_scoped_release others_go_on;
    return cached_zoo_model(name, default_cache());
  };
  return value_or_raise(built());
}

}  // namespace

void bind_machine(nb::module_& module) {
  nb::class_<Cache>(module, "Cache")
      .def_ro("kind", &Cache::kind, "\"L1d\", \"L2\", \"L3\".")
      .def_ro("size_bytes", &Cache::size_bytes)
      .def_ro("shared_by", &Cache::shared_by, "Processors.");
  EnvironmentClass environment(module, "Environment", "The machine of a run, as far as it can change a result.");
  bind_processor(environment);
  bind_system(environment);
  bind_backend_info(module);
  bind_models(module);
  module.def("environment", [] { return read_environment(); }, "This machine.");
  module.def("examine", examine, nb::arg("environment"), "What of a machine disturbs a measurement, the worst first.");
  module.def("backends", backends, nb::arg("backend_path") = std::filesystem::path(),
             nb::sig("def backends(backend_path: str | os.PathLike[str] = '') -> list[BackendInfo]"),
             "The back ends that there are; each is asked in a process of its own.");
  module.def("models", [] { return std::vector<ZooModel>(zoo().begin(), zoo().end()); }, "The models of the zoo.");
  module.def("plugin_path", plugin_path, nb::arg("name"), "The file of a back end.");
  module.def("zoo_model_path", zoo_model_path, nb::arg("name"),
             "The ONNX file of a model of the zoo, written on first use.");
}

}  // namespace infermeter::python
