#include "cli/signals.hpp"

#include <csignal>
#include <initializer_list>

namespace infermeter {
namespace {

std::atomic<int> interrupts{0};
std::atomic<int> first_signal{0};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler may touch lock-free atomics only");

void on_signal(int number) {
  int none = 0;
  first_signal.compare_exchange_strong(none, number);
  if (interrupts.load() < 2) interrupts.fetch_add(1);
}

}  // namespace

InterruptFlags catch_signals() {
  struct sigaction action{};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  // Without SA_RESTART, so that a wait ends and the flag is looked at.
  for (const int number : {SIGINT, SIGTERM}) sigaction(number, &action, nullptr);
  action.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &action, nullptr);
  return {.interrupt = &interrupts, .signal = &first_signal};
}

}  // namespace infermeter
