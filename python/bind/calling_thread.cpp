#include "python/bind/calling_thread.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>

#include "python/bind/errors.hpp"

namespace nb = nanobind;

namespace infermeter::python {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks{50};

}  // namespace

void CallingThread::serve(const std::function<void()>& work) {
  std::thread worker([&] {
    work();
    const std::lock_guard lock(mutex_);
    ended_ = true;
    changed_.notify_all();
  });
  for (bool ended = false; !ended;) {
    const std::function<void()>* task = wait_for_task();
    if (task != nullptr) {
      run(*task);
      finish_task();
    }
    look_for_signals();
    const std::lock_guard lock(mutex_);
    ended = ended_;
  }
  nb::gil_scoped_release others_go_on;
  worker.join();
}

// Nothing after a while, or at the end.
const std::function<void()>* CallingThread::wait_for_task() {
  nb::gil_scoped_release others_go_on;
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, kBetweenLooks, [this] { return task_ != nullptr || ended_; });
  return task_;
}

void CallingThread::run(const std::function<void()>& task) {
  try {
    task();
  } catch (nb::python_error& raised) {
    note(nb::borrow(raised.value()));
  } catch (const std::exception& error) {  // of nanobind or the standard library: memory, most likely
    note(exception_of(internal_error(fmt::format("stopped by an unexpected error: {}", error.what()))));
  }
}

void CallingThread::finish_task() {
  const std::lock_guard lock(mutex_);
  task_ = nullptr;
  changed_.notify_all();
}

void CallingThread::call(const std::function<void()>& task) {
  if (std::this_thread::get_id() == own_) {
    const nb::gil_scoped_acquire gil;
    return run(task);
  }
  std::unique_lock lock(mutex_);
  task_ = &task;
  changed_.notify_all();
  changed_.wait(lock, [this] { return task_ == nullptr; });
}

void CallingThread::raise_again() const {
  if (!exception_.is_valid()) return;
  PyErr_SetObject(exception_.type().ptr(), exception_.ptr());
  throw nb::python_error();
}

void CallingThread::look_for_signals() {
  if (PyErr_CheckSignals() == 0) return;
  const nb::python_error raised;
  note(nb::borrow(raised.value()));
}

void CallingThread::note(const nb::object& exception) {
  if (!exception_.is_valid()) exception_ = exception;
  interrupt_.store(std::min(interrupt_.load() + 1, 2));
}

}  // namespace infermeter::python
