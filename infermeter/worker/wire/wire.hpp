// What launcher and worker tell each other, as values and as JSON.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "infermeter/data/tensor.hpp"
#include "infermeter/diagnostics/result.hpp"
#include "infermeter/trial/trial.hpp"
#include "infermeter/worker/launcher.hpp"

namespace infermeter {

// A file that is to be made of trial.model_path, with trial.subject's options, and nothing else done.
struct MakeJob {
  std::string file{};  // empty: nothing is to be made
  std::string data{};  // .npz; empty: none
};

struct WorkerJob {
  bool probe = false;     // only look at the back end
  bool prepare = false;   // load, leave what is worth keeping in trial.cache_folder, and nothing else
  bool pictures = false;  // decode pictures, and nothing else (picture_process.hpp)
  std::string plugin;     // path
  TrialRequest trial;
  Sandbox sandbox = Sandbox::automatic;
  std::vector<std::string> readable;    // what the sandbox lets it read, besides the system
  std::vector<std::string> writable{};  // and write, besides its own folder
  std::vector<int> cpus;                // asked for; empty: any
  MakeJob make{};
  PythonProfiler python = PythonProfiler::off;  // that looks at its timed iterations
};

[[nodiscard]] std::string job_to_json(const WorkerJob& job);
[[nodiscard]] Result<WorkerJob> job_from_json(std::string_view text);

struct ModelPorts {
  std::vector<Port> inputs, outputs;
};
[[nodiscard]] std::string ports_to_json(const ModelPorts& ports);
[[nodiscard]] Result<ModelPorts> ports_from_json(std::string_view text);

[[nodiscard]] std::string backend_info_to_json(const BackendInfo& info);
[[nodiscard]] Result<BackendInfo> backend_info_from_json(std::string_view text);

}  // namespace infermeter
