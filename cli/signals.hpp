// Signals: the first SIGINT or SIGTERM asks for a stop after the current iteration, the second for one at once. Where
// nothing hears it within 0.8 s (a large file is being read, say), and at the third, the process ends.
#pragma once

#include <atomic>

namespace infermeter {

struct InterruptFlags {
  const std::atomic<int>* interrupt = nullptr;  // 0, 1 or 2
  const std::atomic<int>* signal = nullptr;     // the first one's number; 0: none came
};

// Installs the handlers, also one that ignores SIGPIPE: a reader that goes away must not take a running measurement
// along.
InterruptFlags catch_signals();

}  // namespace infermeter
