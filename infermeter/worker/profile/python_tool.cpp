#include "infermeter/worker/profile/python_tool.hpp"

#include <fmt/format.h>

#include <fstream>

#include "infermeter/diagnostics/last_words.hpp"
#include "infermeter/text/whole_file.hpp"
#include "infermeter/worker/wall/private_folder.hpp"
#include "infermeter/worker/wall/watchdog.hpp"
#include "infermeter/worker/worker_process.hpp"

namespace infermeter {
namespace {

namespace fs = std::filesystem;

Result<Done> write_text(const fs::path& file, std::string_view text) {
  std::ofstream stream(file, std::ios::binary);
  stream << text << std::flush;
  if (stream.good()) return Done{};
  return io_error(fmt::format("the temporary file {} cannot be written: is the disk full?", file.string()));
}

std::string how_the_tool_ended(const PythonTool& tool, const WatchEnd& end) {
  if (end.reason == KillReason::interrupt) return "it was interrupted";
  if (end.reason != KillReason::none) return fmt::format("it did not end within {} s", tool.timeout_s);
  if (end.worker.signal != 0) return fmt::format("it was ended by signal {}", end.worker.signal);
  return fmt::format("it ended with status {}", end.worker.exit_code);
}

Result<Done> check_end(const PythonTool& tool, const WatchEnd& end, const std::string& said) {
  if (end.reason == KillReason::none && end.worker.signal == 0) {
    if (end.worker.exit_code == 0) return Done{};
    if (auto unfit = why_unfit(end.worker, said)) return *unfit;
  }
  const std::string words(last_words(said));
  return worker_error(fmt::format("{} failed: {}{}", tool.module, how_the_tool_ended(tool, end),
                                  words.empty() ? "" : fmt::format("; last line on stderr: {}", words)));
}

}  // namespace

Result<std::string> run_python_tool(const Launcher& launcher, const PythonTool& tool) {
  INFERMETER_TRY(const PrivateFolder folder, PrivateFolder::create());
  const fs::path input = folder.path() / tool.input_name, output = folder.path() / tool.output_name;
  INFERMETER_TRY_DONE(write_text(input, tool.input));
  std::vector<std::string> arguments = {"-m", tool.module, input.string(), output.string()};
  arguments.insert(arguments.end(), tool.arguments.begin(), tool.arguments.end());
  INFERMETER_TRY(WorkerProgram program, python_program(launcher, tool.module, std::move(arguments)));
  INFERMETER_TRY(WorkerProcess process,
                 WorkerProcess::start({.program = std::move(program), .cpus = {}, .seed = 0, .block = -1}));
  WatchRules rules;
  rules.load_timeout_s = tool.timeout_s;
  rules.interrupt = tool.interrupt;
  rules.on_frame = [](Frame&) -> Result<Done> { return Done{}; };
  const WatchEnd end = watch(process, rules);
  INFERMETER_TRY_DONE(check_end(tool, end, process.tail().text()));
  std::string bytes = whole_file(output);
  if (!bytes.empty()) return bytes;
  return worker_error(fmt::format("{} ended well but made no file", tool.module));
}

Result<Done> check_figures(const Launcher& launcher, std::string_view what) {
  INFERMETER_TRY(const std::string done, run_python_tool(launcher, {.module = "infermeter.figure",
                                                                    .input = what,
                                                                    .input_name = "what",
                                                                    .output_name = "done",
                                                                    .arguments = {}}));
  return Done{};
}

}  // namespace infermeter
