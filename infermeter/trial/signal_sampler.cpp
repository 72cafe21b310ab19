#include "infermeter/trial/signal_sampler.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>

#include "infermeter/trial/machine/clock.hpp"

namespace infermeter {
namespace {

struct SignalSample {
  std::uint64_t monotonic_ns, address;
  std::uint32_t thread;
  std::atomic<std::uint32_t> written;
};
struct SignalHeader {
  std::atomic<std::uint64_t> claimed;  // places given away; may be more than there are
  std::uint64_t unused[2];
};
static_assert(sizeof(SignalSample) == 24 && sizeof(SignalHeader) == 24);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

constexpr std::uint64_t capacity = kSignalAreaBytes / sizeof(SignalSample) - 1;
constexpr int interval_us = 2004;  // 499 Hz, where the kernel's tick is so short

std::atomic<std::byte*> sampled_into = nullptr;

std::uint64_t instruction_of(const void* context) {
  const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return static_cast<std::uint64_t>(machine.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return machine.pc;
#else
  static_cast<void>(machine);
  return 0;
#endif
}

SignalSample* place_in(std::byte* area, std::uint64_t index) {
  return reinterpret_cast<SignalSample*>(area + sizeof(SignalHeader)) + index;
}

// Nothing here that a signal handler may not do (man 7 signal-safety).
void note(int, siginfo_t*, void* context) {
  std::byte* const area = sampled_into.load(std::memory_order_acquire);
  if (area == nullptr) return;
  const int error = errno;
  const std::uint64_t index = reinterpret_cast<SignalHeader*>(area)->claimed.fetch_add(1, std::memory_order_relaxed);
  if (index < capacity) {
    SignalSample& sample = *place_in(area, index);
    sample.monotonic_ns = MonotonicClock{}.now();
    sample.address = instruction_of(context);
    sample.thread = static_cast<std::uint32_t>(syscall(SYS_gettid));
    sample.written.store(1, std::memory_order_release);
  }
  errno = error;
}

Error cannot(std::string_view what) {
  const char* const name = strerrorname_np(errno);
  return io_error(fmt::format("{} was refused ({})", what, name == nullptr ? "no reason" : name));
}

bool is_taken(const struct sigaction& before) {
  return (before.sa_flags & SA_SIGINFO) != 0 || (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN);
}

}  // namespace

Result<Done> start_signal_sampling(std::span<std::byte> area) {
  INFERMETER_CHECK(area.size() >= kSignalAreaBytes);
  struct sigaction before{}, ours{};
  sigaction(SIGPROF, nullptr, &before);
  if (is_taken(before) && before.sa_sigaction != note) return io_error("SIGPROF is in use by the runtime itself");
  ours.sa_sigaction = note;
  ours.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  sigfillset(&ours.sa_mask);
  if (sigaction(SIGPROF, &ours, nullptr) != 0) return cannot("SIGPROF");
  sampled_into.store(area.data(), std::memory_order_release);
  const itimerval timer{.it_interval = {0, interval_us}, .it_value = {0, interval_us}};
  if (setitimer(ITIMER_PROF, &timer, nullptr) == 0) return Done{};
  const Error error = cannot("a timer of processor time");
  sampled_into.store(nullptr, std::memory_order_release);
  return error;
}

// The handler stays: a signal that is on its way would otherwise end the process.
void stop_signal_sampling() {
  const itimerval none{};
  setitimer(ITIMER_PROF, &none, nullptr);
  sampled_into.store(nullptr, std::memory_order_release);
}

std::vector<RawSample> read_signal_samples(std::span<const std::byte> area) {
  std::vector<RawSample> samples;
  if (area.size() < kSignalAreaBytes) return samples;
  auto* const memory = const_cast<std::byte*>(area.data());  // atomics are read through what could write
  const std::uint64_t claimed = reinterpret_cast<SignalHeader*>(memory)->claimed.load(std::memory_order_acquire);
  for (std::uint64_t i = 0; i < std::min(claimed, capacity); ++i) {
    const SignalSample& sample = *place_in(memory, i);
    if (sample.written.load(std::memory_order_acquire) != 1) continue;
    samples.push_back({.monotonic_ns = static_cast<std::int64_t>(sample.monotonic_ns),
                       .thread = sample.thread,
                       .addresses = {sample.address}});
  }
  std::ranges::stable_sort(samples, {}, &RawSample::monotonic_ns);
  return samples;
}

}  // namespace infermeter
