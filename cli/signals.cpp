#include "cli/signals.hpp"

#include <sys/time.h>
#include <unistd.h>

#include <csignal>
#include <initializer_list>
#include <string_view>

#include "infermeter/diagnostics/interrupt.hpp"

namespace infermeter {
namespace {

std::atomic<int> interrupts{0};
std::atomic<int> first_signal{0};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler may touch lock-free atomics only");

constexpr int most = 2;  // what more of them ask for cannot wait

[[noreturn]] void end_at_once() {
  constexpr std::string_view sentence = "infermeter: interrupted; what was stored before is kept\n";
  static_cast<void>(write(STDERR_FILENO, sentence.data(), sentence.size()) > 0);
  _exit(128 + first_signal.load());
}

void on_signal(int number) {
  int none = 0;
  first_signal.compare_exchange_strong(none, number);
  if (interrupts.load() == most) end_at_once();
  interrupts.fetch_add(1);
  const bool urgent = interrupts.load() > 1;
  const itimerval patience{.it_interval = {}, .it_value = {.tv_sec = 0, .tv_usec = urgent ? 100'000 : 800'000}};
  setitimer(ITIMER_REAL, &patience, nullptr);
}

// What the program does just now does not look whether one came: nothing is measured, and nothing half written is kept.
void on_end_of_patience(int) {
  if (interrupts_heard() < interrupts.load()) end_at_once();
}

}  // namespace

InterruptFlags catch_signals() {
  struct sigaction action{};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  // Without SA_RESTART, so that a wait ends and the flag is looked at.
  for (const int number : {SIGINT, SIGTERM}) sigaction(number, &action, nullptr);
  action.sa_flags = SA_RESTART;
  action.sa_handler = on_end_of_patience;
  sigaction(SIGALRM, &action, nullptr);
  action.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &action, nullptr);
  // A write beyond the limit of a file's size fails then, and is reported, like any other.
  sigaction(SIGXFSZ, &action, nullptr);
  return {.interrupt = &interrupts, .signal = &first_signal};
}

}  // namespace infermeter
