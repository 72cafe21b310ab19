#include "infermeter/worker/profile/python_look.hpp"

#include <fmt/format.h>

#include "infermeter/worker/profile/python_profile.hpp"

namespace infermeter {

PythonLook::PythonLook(const Launcher& launcher, const TrialJob& job, bool runs_python, const SampleBlock& block)
    : asked_(job.profile ? job.python : PythonProfiler::off) {
  if (asked_ == PythonProfiler::off) return;
  if (!runs_python) {
    why_not_ = fmt::format("the back end {} is not written in Python", job.subject.backend);
  } else if (asked_ == PythonProfiler::py_spy) {
    auto program = find_py_spy(launcher);
    if (program.empty())
      why_not_ = fmt::format("py-spy is neither beside {} nor on PATH; pip install py-spy into that environment",
                             launcher.python.string());
    else
      py_spy_.emplace(std::move(program), block);
  }
}

void PythonLook::look(pid_t worker) {
  if (py_spy_) py_spy_->look(worker);
}

void PythonLook::conclude(TrialResult& result) {
  const bool was_timed = result.samples.iterations() > 0;  // else it is told how it ended
  if (py_spy_) {
    const std::string name = python_profile_file(PythonProfiler::py_spy);
    std::erase_if(result.profile_files, [&](const ProfileFile& file) { return file.name == name; });  // not ours
    Result<std::string> stacks = py_spy_->take();
    if (stacks.ok())
      result.profile_files.push_back({.name = name, .bytes = std::move(stacks).value()});
    else
      why_not_ = stacks.error().message;
  }
  if (was_timed && !why_not_.empty()) result.samples.diagnostics.push_back(no_python_profile(why_not_));
}

}  // namespace infermeter
