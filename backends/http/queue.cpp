#include "http/queue.hpp"

#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <string>

#include "sdk/abi_edge.hpp"

namespace infermeter {
namespace {

constexpr std::int64_t second_ns = 1'000'000'000;

timespec timespec_of(std::int64_t ns) {
  return {.tv_sec = static_cast<time_t>(ns / second_ns), .tv_nsec = static_cast<long>(ns % second_ns)};
}

// Kernels before 5.11 wait for whole milliseconds only.
int wait_for_events(int epoll, epoll_event* events, int most, std::int64_t left_ns) {
  static std::atomic<bool> is_exact = true;
  if (is_exact) {
    const timespec left = timespec_of(left_ns);
    const int count = epoll_pwait2(epoll, events, most, &left, nullptr);
    if (count >= 0 || errno != ENOSYS) return count;
    is_exact = false;
  }
  return epoll_wait(epoll, events, most, static_cast<int>((left_ns + 999'999) / 1'000'000));
}

bool stamp_what_comes(int descriptor) {
  const int on = 1;
  return setsockopt(descriptor, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on) == 0;
}

std::int64_t nanoseconds(const timespec& time) { return std::int64_t{time.tv_sec} * second_ns + time.tv_nsec; }

// Of the bytes that a message is of, by CLOCK_MONOTONIC; 0: the kernel does not tell.
std::int64_t moment_of(msghdr& message) {
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr; part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_TIMESTAMPNS) continue;
    timespec stamp{}, now{};
    std::memcpy(&stamp, CMSG_DATA(part), sizeof stamp);
    clock_gettime(CLOCK_REALTIME, &now);
    return monotonic_ns() - (nanoseconds(now) - nanoseconds(stamp));
  }
  return 0;
}

struct Received {
  long bytes = 0;              // as of recvmsg
  std::int64_t moment_ns = 0;  // of the last of them
};

struct Control {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(timespec))> bytes{};
};

msghdr message_into(iovec& place, Control& control) {
  msghdr message{};
  message.msg_iov = &place;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes.data();
  message.msg_controllen = control.bytes.size();
  return message;
}

// What is there. Nothing is copied: of a stream, MSG_TRUNC passes over bytes (man 7 tcp). Not by recvmsg, which
// sanitizers take at its word.
Received look_at(int descriptor) {
  static char nothing = 0;  // not on the stack, behind which there may be fewer addresses than the length
  iovec all{.iov_base = &nothing, .iov_len = std::size_t{64} << 20};
  Control control;
  msghdr message = message_into(all, control);
  const long bytes = syscall(SYS_recvmsg, descriptor, &message, MSG_PEEK | MSG_TRUNC | MSG_DONTWAIT);
  return {bytes, bytes > 0 ? moment_of(message) : 0};
}

}  // namespace

// Of a real-time clock that was set meanwhile, it can be any time.
void QueueMember::received_at(std::int64_t moment_ns) {
  received_ns_ = earliest_ns_ = moment_ns == 0 ? monotonic_ns() : std::clamp(moment_ns, earliest_ns_, monotonic_ns());
}

void QueueMember::note_received(int descriptor, std::uint32_t events) {
  if ((events & EPOLLIN) == 0) return;
  const Received received = look_at(descriptor);
  stamped_bytes_ = received.bytes > 0 ? static_cast<std::size_t>(received.bytes) : 0;
  if (received.moment_ns != 0) received_at(received.moment_ns);
}

ssize_t QueueMember::receive(int descriptor, char* bytes, std::size_t most) {
  iovec place{.iov_base = bytes, .iov_len = most};
  Control control;
  msghdr message = message_into(place, control);
  const ssize_t count = recvmsg(descriptor, &message, MSG_DONTWAIT);
  if (count > 0) received_at(moment_of(message));
  return count;
}

HttpQueue::HttpQueue() : epoll_(epoll_create1(EPOLL_CLOEXEC)) {
  if (epoll_ < 0)
    fail(IMB_RUN_ERROR, std::string("the network cannot be watched (epoll: ") + std::strerror(errno) + ')');
}

HttpQueue::~HttpQueue() { close(epoll_); }

QueueMember* HttpQueue::next(std::int64_t timeout_ns) {
  const std::int64_t until_ns = timeout_ns > 0 ? monotonic_ns() + timeout_ns : 0;
  constexpr std::int64_t often_ns = 20'000;
  if (!ended_.empty() && monotonic_ns() - stepped_ns_ > often_ns) step(0);
  while (ended_.empty())
    if (!step(until_ns)) return nullptr;
  QueueMember* const member = ended_.front();
  ended_.pop_front();
  return member;
}

void HttpQueue::wait_for(QueueMember& member) {
  while (member.is_running()) step(INT64_MAX);
  std::erase(ended_, &member);
}

// What has come is read before timers are looked at, which would make libcurl read it without its stamp.
bool HttpQueue::step(std::int64_t until_ns) {
  const std::int64_t now = until_ns == 0 && deadlines_.empty() ? 0 : monotonic_ns();
  std::int64_t wake_ns = until_ns;
  if (!deadlines_.empty()) wake_ns = std::min(wake_ns, deadlines_.begin()->first);
  constexpr std::int64_t longest_ns = 3600 * second_ns;
  const int count = wait_for_events(epoll_, events_.data(), static_cast<int>(events_.size()),
                                    std::clamp<std::int64_t>(wake_ns - now, 0, longest_ns));
  if (count < 0 && errno != EINTR)
    fail(IMB_RUN_ERROR, std::string("waiting for the network failed: ") + std::strerror(errno));
  for (int i = 0; i < count; ++i) handle(events_[static_cast<std::size_t>(i)]);
  stepped_ns_ = monotonic_ns();
  const bool has_expired = !deadlines_.empty() && expire(stepped_ns_);
  return count > 0 || has_expired || (until_ns > 0 && stepped_ns_ < until_ns);
}

void HttpQueue::handle(const epoll_event& event) {
  const int descriptor = event.data.fd;
  Socket& socket = sockets_[static_cast<std::size_t>(descriptor)];
  if (socket.member == nullptr) return;  // it was closed meanwhile
  QueueMember& member = *socket.member;
  if (socket.wanted == 0) {
    epoll_ctl(epoll_, EPOLL_CTL_DEL, descriptor, nullptr);
    socket = {};
    member.hung_up(descriptor);
    return;
  }
  member.received_ns_ = 0;
  member.act(descriptor, event.events);
}

// Those that are due now: what they set anew is for the next time.
bool HttpQueue::expire(std::int64_t now_ns) {
  bool any = false;
  while (!deadlines_.empty() && deadlines_.begin()->first <= now_ns) {
    QueueMember* const member = deadlines_.begin()->second;
    set_deadline(*member, 0);
    member->received_ns_ = 0;
    member->expire();
    any = true;
  }
  return any;
}

void HttpQueue::begins(QueueMember& member) {
  member.earliest_ns_ = monotonic_ns();
  member.received_ns_ = 0;
  member.stamped_bytes_ = 0;
}

void HttpQueue::watch(int descriptor, QueueMember& member, std::uint32_t wanted) {
  const auto place = static_cast<std::size_t>(descriptor);
  if (place >= sockets_.size()) sockets_.resize(place + 1);
  Socket& socket = sockets_[place];
  if (socket.member != &member) socket = {.member = &member};
  socket.wanted = wanted;
  if (wanted != 0 && !socket.is_stamped) socket.is_stamped = stamp_what_comes(descriptor);
  if (wanted != 0 && wanted != socket.registered) apply(descriptor, socket);
}

void HttpQueue::apply(int descriptor, Socket& socket) {
  epoll_event event{};
  event.events = socket.wanted;
  event.data.fd = descriptor;
  const int first = socket.registered == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
  if (epoll_ctl(epoll_, first, descriptor, &event) != 0) {
    // Of an earlier exchange, whose socket it was.
    const int second = first == EPOLL_CTL_ADD ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
    if (epoll_ctl(epoll_, second, descriptor, &event) != 0) return;  // libcurl's timeout ends it
  }
  socket.registered = socket.wanted;
}

void HttpQueue::closed(int descriptor) {
  const auto place = static_cast<std::size_t>(descriptor);
  if (place < sockets_.size()) sockets_[place] = {};
}

void HttpQueue::ended(QueueMember& member) {
  member.ended_ns_ = member.received_ns();
  ended_.push_back(&member);
}

void HttpQueue::set_deadline(QueueMember& member, std::int64_t moment_ns) {
  std::int64_t& known = member.deadline_ns_;
  if (known == moment_ns) return;
  if (known != 0) deadlines_.erase({known, &member});
  known = moment_ns;
  if (known != 0) deadlines_.insert({known, &member});
}

void HttpQueue::forget(QueueMember& member) {
  set_deadline(member, 0);
  std::erase(ended_, &member);
  for (std::size_t i = 0; i < sockets_.size(); ++i) {
    if (sockets_[i].member != &member) continue;
    if (sockets_[i].registered != 0) epoll_ctl(epoll_, EPOLL_CTL_DEL, static_cast<int>(i), nullptr);
    sockets_[i] = {};
  }
}

}  // namespace infermeter
