// HttpQueue: many exchanges in flight, driven by one thread.
//
// What comes is stamped by the kernel (SO_TIMESTAMPNS), so that a thread that is busy with one answer does not make the
// others late: the stamps are read before the bytes are.
//
// Each exchange has its own connection; the sockets of all of them are in one epoll set. Sockets stay in the set
// between the exchanges of a connection, as most connections are used again at once.
#pragma once

#include <sys/epoll.h>
#include <sys/types.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <set>
#include <utility>
#include <vector>

namespace infermeter {

// By CLOCK_MONOTONIC.
[[nodiscard]] inline std::int64_t monotonic_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// What a queue drives.
class QueueMember {
 public:
  virtual ~QueueMember() = default;
  [[nodiscard]] virtual bool is_running() const = 0;
  [[nodiscard]] std::int64_t ended_ns() const { return ended_ns_; }  // when it did, monotonic
  // When the kernel received the last of the bytes that are being read, monotonic: not when this thread came to read
  // them. Now, where the kernel does not tell.
  [[nodiscard]] std::int64_t received_ns() const { return received_ns_ != 0 ? received_ns_ : monotonic_ns(); }
  void* owner = nullptr;  // of whoever takes it from a queue

 protected:
  [[nodiscard]] bool has_deadline() const { return deadline_ns_ != 0; }
  // Looks when what is at a socket was received, before others read it, who say how much by `took`.
  void note_received(int descriptor, std::uint32_t events);
  // So many bytes of the answer were read. What was not there when it was looked for has come since.
  void took(std::size_t bytes) {
    if (bytes > stamped_bytes_) received_ns_ = earliest_ns_ = monotonic_ns();
    stamped_bytes_ -= std::min(bytes, stamped_bytes_);
  }
  // As recv without waiting, and notes when it was received.
  [[nodiscard]] ssize_t receive(int descriptor, char* bytes, std::size_t most);

 private:
  friend class HttpQueue;
  virtual void act(int descriptor, std::uint32_t events) = 0;  // its socket has events of epoll
  virtual void expire() = 0;                                   // its time has come
  // Something came, or the server closed it, while nothing was wanted of its socket.
  virtual void hung_up(int /*descriptor*/) {}
  void received_at(std::int64_t moment_ns);
  std::int64_t deadline_ns_ = 0, ended_ns_ = 0, received_ns_ = 0;  // 0: none
  std::int64_t earliest_ns_ = 0;                                   // that anything can have been received at
  std::size_t stamped_bytes_ = 0;                                  // that received_ns_ is of, and that are not read yet
};

// Of one thread at a time. Members keep their queue alive (HttpExchange::start).
class HttpQueue {
 public:
  HttpQueue();  // throws Failure
  HttpQueue(const HttpQueue&) = delete;
  HttpQueue& operator=(const HttpQueue&) = delete;
  ~HttpQueue();

  // The next member that has ended, as soon as it has; what came meanwhile for others is received before, but for that
  // of the last 20 us. nullptr after `timeout_ns` without one. 0: does not wait.
  [[nodiscard]] QueueMember* next(std::int64_t timeout_ns);
  // Returns when `member` has ended; `next` does not return it any more.
  void wait_for(QueueMember& member);

  // What members tell.
  void begins(QueueMember& member);
  void watch(int descriptor, QueueMember& member, std::uint32_t wanted);
  void closed(int descriptor);
  void set_deadline(QueueMember& member, std::int64_t moment_ns);  // 0: none
  void ended(QueueMember& member);
  void forget(QueueMember& member);

 private:
  // A descriptor's place in the epoll set. `registered`: what the kernel reports of it; `wanted`: what its member asks
  // for.
  struct Socket {
    QueueMember* member = nullptr;
    std::uint32_t wanted = 0, registered = 0;
    bool is_stamped = false;  // the kernel keeps the time at which data come
  };

  // Waits until `until_ns` at most, and handles what has come or is due. False: nothing.
  bool step(std::int64_t until_ns);
  void handle(const epoll_event& event);
  bool expire(std::int64_t now_ns);
  void apply(int descriptor, Socket& socket);

  int epoll_;
  std::vector<Socket> sockets_;  // by descriptor
  std::set<std::pair<std::int64_t, QueueMember*>> deadlines_;
  std::int64_t stepped_ns_ = 0;  // when the kernel was asked last
  std::deque<QueueMember*> ended_;
  std::array<epoll_event, 64> events_{};
};

}  // namespace infermeter
