// The worker's side of the process wall.
#pragma once

#include "infermeter/trial/memory_probe.hpp"
#include "infermeter/worker/frames.hpp"
#include "infermeter/worker/wire.hpp"
#include "infermeter_backend.h"

namespace infermeter {

// What the worker program does; the result is its exit code.
[[nodiscard]] int worker_main(int argc, char** argv);

// The connection to the launcher.
struct WorkerLink {
  int socket = -1;
  int block = -1;
  FrameReader frames;
};

// Does the job with a back end that is already here, wherever it came from: a plug-in, or a program that hosts one of
// its own. Does not return a failure of the subject: that is in the record that it sends.
[[nodiscard]] Result<Done> host_job(const imb_backend& backend, const WorkerJob& job, const MemoryProbe& memory,
                                    std::vector<Diagnostic> diagnostics, WorkerLink& link);

}  // namespace infermeter
