// HttpQueue: many exchanges in flight, driven by one thread.
//
// Each exchange has its own connection and its own multi handle of libcurl; the sockets of all of them are in one
// epoll set. Sockets stay in the set between the exchanges of a connection, as most connections are used again at once.
#pragma once

#include <sys/epoll.h>
#include <time.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <set>
#include <utility>
#include <vector>

namespace infermeter {

class HttpExchange;

// By CLOCK_MONOTONIC.
[[nodiscard]] inline std::int64_t monotonic_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// Of one thread at a time. Exchanges keep their queue alive (HttpExchange::start).
class HttpQueue {
 public:
  HttpQueue();  // throws Failure
  HttpQueue(const HttpQueue&) = delete;
  HttpQueue& operator=(const HttpQueue&) = delete;
  ~HttpQueue();

  // The next exchange that has ended, as soon as it has; nullptr after `timeout_ns` without one. 0: does not wait.
  [[nodiscard]] HttpExchange* next(std::int64_t timeout_ns);
  // Returns when `exchange` has ended; `next` does not return it any more.
  void wait_for(HttpExchange& exchange);

 private:
  friend class HttpExchange;

  // By CLOCK_MONOTONIC.
  [[nodiscard]] inline std::int64_t monotonic_ns() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
  }

  // A descriptor's place in the epoll set. `registered`: what the kernel reports of it; `wanted`: what libcurl asks
  // for.
  struct Socket {
    HttpExchange* exchange = nullptr;
    std::uint32_t wanted = 0, registered = 0;
  };

  // What exchanges tell.
  void watch(int descriptor, HttpExchange& exchange, std::uint32_t wanted);
  void closed(int descriptor);
  void set_deadline(HttpExchange& exchange, std::int64_t moment_ns);  // 0: none
  void ended(HttpExchange& exchange) { ended_.push_back(&exchange); }
  void forget(HttpExchange& exchange);

  // Waits until `until_ns` at most, and handles one event or what is due. False: nothing came.
  bool step(std::int64_t until_ns);
  void handle(const epoll_event& event);
  bool expire(std::int64_t now_ns);
  void apply(int descriptor, Socket& socket);

  int epoll_;
  std::vector<Socket> sockets_;                                 // by descriptor
  std::set<std::pair<std::int64_t, HttpExchange*>> deadlines_;  // libcurl's timers
  std::deque<HttpExchange*> ended_;
  std::array<epoll_event, 64> events_{};
  std::size_t next_event_ = 0, events_end_ = 0;  // of `events_`, those that came and were not handled
};

}  // namespace infermeter
