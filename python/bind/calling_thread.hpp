// The thread that called from Python, while another one works for it without the GIL: it runs what needs Python, and
// looks for signals. Live objects are measured in it as well: what frameworks keep per thread is then the program's
// own.
#pragma once

#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>

#include <nanobind/nanobind.h>

#include "infermeter/diagnostics/result.hpp"

namespace infermeter::python {

class CallingThread {
 public:
  // In the calling thread, with the GIL: has `work` done in another thread, and returns the Result that it gives, or
  // what it throws as one. The GIL is free but for tasks, and for looking for signals twenty times a second.
  template <class Work>
  std::invoke_result_t<Work> result_of(Work work);

  // In the other thread: has `task` run in the calling one, with the GIL, and returns when it has been. What it raises
  // is noted as an interruption.
  void call(const std::function<void()>& task);

  // 0; 1: a signal's handler or a task has raised: stop after the current iteration; 2: again: stop at once.
  [[nodiscard]] std::atomic<int>& interrupt() { return interrupt_; }
  // What was raised first; not valid if nothing was.
  [[nodiscard]] const nanobind::object& exception() const { return exception_; }
  // Raises it, if there is one.
  void raise_again() const;

 private:
  void serve(const std::function<void()>& work);  // which must not throw
  const std::function<void()>* wait_for_task();
  void run(const std::function<void()>& task);
  void finish_task();
  void look_for_signals();
  void note(const nanobind::object& exception);

  std::thread::id own_ = std::this_thread::get_id();
  std::mutex mutex_;
  std::condition_variable changed_;
  const std::function<void()>* task_ = nullptr;
  bool ended_ = false;
  std::atomic<int> interrupt_{0};
  nanobind::object exception_;
};

template <class Work>
std::invoke_result_t<Work> CallingThread::result_of(Work work) {
  std::optional<std::invoke_result_t<Work>> product;
  serve([&] {
    try {
      product = work();
    } catch (const std::exception& error) {  // of the standard library: memory, most likely
      product = internal_error(std::string("stopped by an unexpected error: ") + error.what());
    }
  });
  return std::move(*product);
}

// What `work(interrupt)` gives, a Result, done without the interpreter's lock. A signal's handler that raises ends it
// where it looks at interruptions, and is what this raises.
template <class Work>
auto interruptible(Work work) -> std::invoke_result_t<Work, const std::atomic<int>*> {
  CallingThread caller;
  auto product = caller.result_of([&] { return work(&caller.interrupt()); });
  caller.raise_again();
  return product;
}

}  // namespace infermeter::python
