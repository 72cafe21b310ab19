// The worker's side of the process wall.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "infermeter/trial/machine/memory_probe.hpp"
#include "infermeter/worker/profile/python_profile.hpp"
#include "infermeter/worker/wire/frames.hpp"
#include "infermeter/worker/wire/wire.hpp"
#include "infermeter_backend.h"

namespace infermeter {

// What the worker program does; the result is its exit code.
[[nodiscard]] int worker_main(int argc, char** argv);

// A program that can be a worker: this one, or Python.
struct WorkerHost {
  std::function<Result<const imb_backend*>(const WorkerJob&)> open;  // the back end; called inside the sandbox
  std::function<Result<Done>(const WorkerJob&)> make{};  // the file that job.make asks for; empty: this host cannot
  std::vector<std::string> readable{};                   // what the sandbox leaves it, beside what every worker needs
  bool starts_programs = false;
  std::function<PythonProfileHooks(const WorkerJob&)> python{};  // empty: this host runs no Python
};
// Does the one job that comes through the socket of the launcher, and ends the process.
[[nodiscard]] int serve(const WorkerHost& host);

// The connection to the launcher.
struct WorkerLink {
  int socket = -1;
  int block = -1;
  FrameReader frames;
};

// Does the job with a back end that is already here, wherever it came from: a plug-in, or a program that hosts one of
// its own. Does not return a failure of the subject: that is in the record that it sends.
[[nodiscard]] Result<Done> host_job(const imb_backend& backend, const WorkerJob& job, const MemoryProbe& memory,
                                    std::vector<Diagnostic> diagnostics, WorkerLink& link,
                                    const PythonProfileHooks& python = {});

}  // namespace infermeter
