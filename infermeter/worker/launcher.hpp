// Launcher: starts workers, waits for them, ends them, and turns whatever happens into a record.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "infermeter/data/data_set.hpp"
#include "infermeter/data/tensor.hpp"
#include "infermeter/diagnostics/result.hpp"
#include "infermeter/plan/plan.hpp"
#include "infermeter/samples/load/load_now.hpp"
#include "infermeter/samples/operator_profile.hpp"
#include "infermeter/samples/raw_stacks.hpp"
#include "infermeter/samples/samples.hpp"
#include "infermeter/samples/stack_profile.hpp"

namespace infermeter {

// Where things are. Found by `find_launcher`, or set by an embedding program.
struct Launcher {
  std::filesystem::path worker;                       // the program infermeter-worker
  std::vector<std::filesystem::path> plugin_folders;  // searched in order for infermeter_backend_<name>.so
  std::vector<std::filesystem::path> python_folders;  // site-packages, for the runtimes' libraries
  std::filesystem::path python{};                     // the interpreter that hosts back ends written in Python
  std::filesystem::path python_package{};             // the folder that holds the Python module `infermeter`
};

// Worker: $INFERMETER_WORKER, else beside or near the library (build tree, <prefix>/libexec/infermeter). Plug-ins:
// `extra`, $INFERMETER_BACKEND_PATH, then near the library. Python folders: $VIRTUAL_ENV, $CONDA_PREFIX, the
// environment that a build was configured with or a wheel is installed in, the user's and the system's. Python:
// $INFERMETER_PYTHON, the one of those environments, /usr/bin/python3. Nothing is looked for in the current folder.
[[nodiscard]] Result<Launcher> find_launcher(const std::filesystem::path& extra_plugins = {});

struct BackendOption {
  std::string key, values, help;
};

// What `infermeter backends` shows. `error` says why it cannot be used (its library is missing, say).
struct BackendInfo {
  std::string name;
  std::string plugin;  // path
  std::string runtime_name, runtime_version, library;
  std::vector<std::string> model_formats, devices, dtypes;
  std::vector<BackendOption> options;
  int concurrent_requests = 1;
  std::string error;
};

struct ProbeOptions {
  Sandbox sandbox = Sandbox::automatic;         // that the trials are to have; `off` is not for what is only asked
  const std::atomic<int>* interrupt = nullptr;  // as in RunContext
  std::filesystem::path cache{};                // where answers are kept (kept_answer.hpp); empty: asked anew
};
// Each plug-in, or each that is named, is asked in a process of its own, all at the same time.
[[nodiscard]] std::vector<BackendInfo> probe_backends(const Launcher& launcher, const ProbeOptions& options = {});
[[nodiscard]] std::vector<BackendInfo> probe_backends(const Launcher& launcher, const std::vector<std::string>& names,
                                                      const ProbeOptions& options);
[[nodiscard]] BackendInfo probe_backend(const Launcher& launcher, const std::string& name, const std::string& library,
                                        const ProbeOptions& options = {});
[[nodiscard]] std::vector<std::string> backend_names(const Launcher& launcher);  // from the file names alone

// What this kernel lets the sandbox do for this user (docs/sandbox.md).
struct Enforcement {
  int landlock_abi = 0;  // 0: none; from 6 on signals and abstract sockets, too
  bool system_calls = false;
  bool supervisor = false;  // calls that name another process are decided on, not refused altogether
  bool mounts = false;      // all is read-only, /dev/shm its own
};
[[nodiscard]] Enforcement what_can_be_enforced();

struct TrialJob {
  Subject subject;
  std::string model_path;
  std::string zoo_name{};    // where the model is of the zoo
  std::string data_shape{};  // of the data, for a model that declares no inputs (data/make_data.hpp)
  std::filesystem::path
      cache_folder{};  // of the back end (prepare.hpp), where a workload that is no model may have one
  Stopping stopping;
  Limits limits;
  Sandbox sandbox = Sandbox::automatic;
  std::vector<int> cpus;
  std::uint64_t seed = 0;           // of this trial: size of the environment, hence the stack's position
  std::uint64_t arrivals_seed = 0;  // of the arrivals under load: subjects of one block have the same
  bool time_it = true;              // false: outputs only (validate): no warm-up, no timed loop
  bool keep_outputs = false;        // TrialResult::outputs is wanted
  bool watch_memory = false;        // Samples::memory_bytes is wanted; costs some microseconds between two iterations
  // TrialResult::profile_files and stacks are wanted: operators are profiled, which disturbs times.
  bool profile = false;
  StackSampling stacks = StackSampling::off;
  PythonProfiler python = PythonProfiler::off;
  std::vector<std::filesystem::path>
      readable;  // what the sandbox lets it read, besides the system and the model's folder
};

struct TrialProgress {
  Phase phase = Phase::start;
  std::int64_t iterations_done = 0;
  std::optional<LoadNow> load{};  // of a load, as it was half a second ago at most
};

struct TrialHooks {
  // Asked once, when the model is loaded and its inputs are known: the bytes that it is to be run on.
  std::function<Result<DataSet>(std::span<const Port> inputs)> data;
  std::function<void(const TrialProgress&)> on_progress;  // may be empty; at most ten times a second
  const std::atomic<int>* interrupt = nullptr;            // as in RunContext
};

struct TrialResult {
  Samples samples;
  std::vector<Port> inputs, outputs;       // as the model declares them; empty if it was not loaded
  std::vector<ItemValues> output_values;   // per data item, if keep_outputs and it came so far
  Bytes output_block;                      // the same, as bytes (data/value_block.hpp); the values view into it
  std::vector<ProfileFile> profile_files;  // what the back end left of its profile, even if the trial ended badly
  std::vector<TrialStacks> stacks;         // what its stacks were seen at; their positions are not set
  std::optional<RawStacks> raw_stacks;     // what is still to be named (infermeter/run/stacks.hpp)
  // The launcher could not do its part (no process, memory or descriptor was to be had): the trial says nothing of its
  // subject and is not to be kept.
  std::optional<Error> launcher_error{};
};

// One trial in one fresh process. Never fails: what went wrong is in result.samples (end, phase, message, stderr_tail).
[[nodiscard]] TrialResult run_trial(const Launcher& launcher, const TrialJob& job, const TrialHooks& hooks);

}  // namespace infermeter
