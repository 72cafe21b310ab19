// Threads of this process, each held on a processor of its own, that do one thing at a time together.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "infermeter/diagnostics/result.hpp"

namespace infermeter {

class ProcessorTeam {
 public:
  // Errors: a processor that this process may not use; a thread that cannot be had.
  [[nodiscard]] static Result<std::unique_ptr<ProcessorTeam>> make(std::span<const int> processors);
  ~ProcessorTeam();
  ProcessorTeam(const ProcessorTeam&) = delete;
  ProcessorTeam& operator=(const ProcessorTeam&) = delete;

  [[nodiscard]] std::size_t size() const { return threads_.size(); }
  // Calls `task` with 0 … size() - 1, each in its thread; all begin together.
  struct Times {
    double all_s = 0;       // until the last one ended
    double shortest_s = 0;  // of the one that was disturbed least
  };
  Times run(const std::function<void(std::size_t)>& task);

 private:
  struct Shared;
  ProcessorTeam();
  void stop();

  std::unique_ptr<Shared> shared_;
  std::vector<std::thread> threads_;
};

}  // namespace infermeter
