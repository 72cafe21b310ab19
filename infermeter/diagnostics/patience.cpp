#include "infermeter/diagnostics/patience.hpp"

#include <poll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "infermeter/diagnostics/interrupt.hpp"

namespace infermeter {

Patience::Patience(const Waiting& waiting)
    : waiting_(waiting), timer_(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)) {}

Patience::~Patience() {
  if (timer_ >= 0) ::close(timer_);
}

void Patience::begin() {
  if (depth_++ > 0) return;
  armed_ = false;
}

bool Patience::interrupted() const { return look_at_interrupts(waiting_.interrupt) > heard_; }

bool Patience::pause() {
  constexpr int step_ms = 5;
  if (timer_ < 0 || interrupted()) return false;
  if (!armed_) {
    // A time of zero would disarm it.
    const itimerspec limit{
        .it_interval = {},
        .it_value = {.tv_sec = waiting_.limit_ms / 1000, .tv_nsec = waiting_.limit_ms % 1000 * 1'000'000 + 1}};
    ::timerfd_settime(timer_, 0, &limit, nullptr);
    armed_ = true;
  }
  pollfd limit{.fd = timer_, .events = POLLIN, .revents = 0};
  return ::poll(&limit, 1, step_ms) <= 0 && !interrupted();
}

}  // namespace infermeter
