// How long others are waited for: one limit for an operation and all its tries, by the monotonic clock; ended by a
// signal.
#pragma once

#include <atomic>

namespace infermeter {

// How long others are waited for, over all tries of one operation, and what ends the wait: signals, by their number
// (RunContext::interrupt).
struct Waiting {
  int limit_ms = 0;
  const std::atomic<int>* interrupt = nullptr;
};

class Patience {
 public:
  explicit Patience(const Waiting& waiting);
  Patience(const Patience&) = delete;
  Patience& operator=(const Patience&) = delete;
  ~Patience();

  // An operation, as long as this lives. Within another one, that one's limit holds.
  class Operation {
   public:
    explicit Operation(Patience& patience) : patience_(patience) { patience_.begin(); }
    Operation(const Operation&) = delete;
    Operation& operator=(const Operation&) = delete;
    ~Operation() { --patience_.depth_; }

   private:
    Patience& patience_;
  };
  // Waits some milliseconds. False: the time is up, or there was a signal.
  [[nodiscard]] bool pause();
  [[nodiscard]] bool interrupted() const;
  void have_heard(int interrupts) { heard_ = interrupts; }

 private:
  void begin();

  Waiting waiting_;
  int timer_ = -1;
  int depth_ = 0;
  bool armed_ = false;
  int heard_ = 0;
};

}  // namespace infermeter
