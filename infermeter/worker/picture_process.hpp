// Pictures are decoded in a process of their own: JPEG and PNG files come from strangers, and their decoders are large.
// It has the worker's sandbox with no file at all (each picture is handed over as an open descriptor), a limit of
// memory and a limit of time.
#pragma once

#include <atomic>

#include "infermeter/data/data_set.hpp"
#include "infermeter/plan/plan.hpp"
#include "infermeter/worker/launcher.hpp"
#include "infermeter/worker/wire/frames.hpp"

namespace infermeter {

// For one picture: of all processes of a decoder.
struct PictureLimits {
  double timeout_s = 60;
  std::uint64_t memory_bytes = std::uint64_t{4} << 30U;
};

// For DataOptions::open_pictures. A process that crashes, or takes too much, costs one picture; the next picture gets a
// new one. `interrupt` as in RunContext: ends the picture that is being decoded.
[[nodiscard]] OpenPictures pictures_in_workers(const Launcher& launcher, Sandbox sandbox,
                                               const std::atomic<int>* interrupt, const PictureLimits& limits = {});

// The worker's side: decodes what comes through the socket until the launcher closes it.
[[nodiscard]] Result<Done> serve_pictures(int socket, FrameReader& frames);

}  // namespace infermeter
