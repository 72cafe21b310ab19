// PythonTool: a module of the Python package run once as a program, beside the measurements: from one text to one file.
#pragma once

#include <atomic>
#include <string>
#include <string_view>
#include <vector>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/worker/launcher.hpp"

namespace infermeter {

struct PythonTool {
  std::string module;                    // "infermeter.plot"
  std::string_view input{};              // what it reads, as the file `input_name`
  std::string input_name{};              // "run.json"
  std::string output_name{};             // "plot.png"
  std::vector<std::string> arguments{};  // behind the names of those two files
  double timeout_s = 120;
  const std::atomic<int>* interrupt = nullptr;  // as in RunContext
};

// `python -m MODULE INPUT OUTPUT ARGUMENTS…` in a private folder, with a worker's environment: nothing of the user's
// own gets in, and it ends with us. The bytes of the file that it made; or, where it ended with unfit_worker, the last
// line that it wrote.
[[nodiscard]] Result<std::string> run_python_tool(const Launcher& launcher, const PythonTool& tool);

// Whether pictures can be drawn here (matplotlib is there), asked before hours of measuring. `what`: "a picture", "a
// plot".
[[nodiscard]] Result<Done> check_figures(const Launcher& launcher, std::string_view what);

}  // namespace infermeter
