#include "infermeter/worker/wire/frames.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <zlib.h>

#include <cerrno>
#include <cstring>

namespace infermeter {
namespace {

constexpr std::uint32_t magic = 0x4d46'4e49U;  // "INFM"
constexpr std::size_t max_descriptors = 4;

struct FrameHeader {
  std::uint32_t magic_number, type, length, sum;
};
static_assert(sizeof(FrameHeader) == 16);

// A descriptor travels with its own frame's first byte.
constexpr std::uint32_t descriptor_flag = 0x100U;

std::uint32_t checksum(std::string_view payload) {
  return static_cast<std::uint32_t>(crc32_z(0, reinterpret_cast<const unsigned char*>(payload.data()), payload.size()));
}

union ControlBuffer {
  cmsghdr alignment;
  char bytes[CMSG_SPACE(sizeof(int) * max_descriptors)];
};

Error gone(std::string_view doing) {
  return worker_error(fmt::format("{} the other process failed: {}", doing, std::strerror(errno)));
}

Result<Done> wait_writable(int socket) {
  pollfd poll_fd{socket, POLLOUT, 0};
  while (poll(&poll_fd, 1, -1) < 0)
    if (errno != EINTR) return gone("waiting for");
  return Done{};
}

// Sends as much as goes; the descriptor goes with the first byte.
Result<std::size_t> send_part(int socket, std::string_view bytes, int descriptor) {
  iovec part{const_cast<char*>(bytes.data()), bytes.size()};
  ControlBuffer control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (descriptor >= 0) {
    message.msg_control = control.bytes;
    message.msg_controllen = CMSG_SPACE(sizeof(int));
    cmsghdr* const head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(head), &descriptor, sizeof descriptor);
  }
  const ssize_t sent = sendmsg(socket, &message, MSG_NOSIGNAL);
  if (sent >= 0) return static_cast<std::size_t>(sent);
  if (errno != EINTR && errno != EAGAIN) return gone("writing to");
  INFERMETER_TRY_DONE(wait_writable(socket));
  return std::size_t{0};
}

void take_descriptors(msghdr& message, std::deque<FileDescriptor>& descriptors) {
  for (cmsghdr* head = CMSG_FIRSTHDR(&message); head != nullptr; head = CMSG_NXTHDR(&message, head)) {
    if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int descriptor = -1;
      std::memcpy(&descriptor, CMSG_DATA(head) + i * sizeof(int), sizeof descriptor);
      FileDescriptor owned(descriptor);
      // More than we ever send: closed at once, so that a wild worker cannot use up our table.
      if (descriptors.size() < max_descriptors) descriptors.push_back(std::move(owned));
    }
  }
}

}  // namespace

Result<Done> send_frame(int socket, FrameType type, std::string_view payload, int descriptor) {
  if (payload.size() > FrameReader::max_payload)
    return internal_error(fmt::format("a message of {} bytes is too long for the worker's socket", payload.size()));
  const FrameHeader header{magic, static_cast<std::uint32_t>(type) | (descriptor >= 0 ? descriptor_flag : 0U),
                           static_cast<std::uint32_t>(payload.size()), checksum(payload)};
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  bytes += payload;
  for (std::string_view rest = bytes; !rest.empty();) {
    INFERMETER_TRY(const std::size_t sent, send_part(socket, rest, descriptor));
    if (sent > 0) descriptor = -1;
    rest.remove_prefix(sent);
  }
  return Done{};
}

Result<bool> FrameReader::read_some(int socket) {
  constexpr std::size_t max_read = 64 * 1024;
  const std::size_t before = buffer_.size();
  buffer_.resize(before + max_read);
  iovec part{buffer_.data() + before, max_read};
  ControlBuffer control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes;
  message.msg_controllen = sizeof control.bytes;
  const ssize_t got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  buffer_.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return true;
  if (got < 0 && errno == ECONNRESET) return false;
  if (got < 0) return gone("reading from");
  take_descriptors(message, descriptors_);
  return got > 0;
}

Result<std::optional<Frame>> FrameReader::next() {
  const auto refuse = [](std::string_view why) {
    return worker_error(fmt::format("the worker sent something that is not a message of ours: {}", why));
  };
  FrameHeader header{};
  if (buffer_.size() < sizeof header) return std::optional<Frame>();
  std::memcpy(&header, buffer_.data(), sizeof header);
  const std::uint32_t type = header.type & ~descriptor_flag;
  if (header.magic_number != magic) return refuse("it does not begin as one");
  if (type < static_cast<std::uint32_t>(FrameType::job) || type > static_cast<std::uint32_t>(FrameType::picture))
    return refuse(fmt::format("its type is {}", type));
  if (header.length > max_payload) return refuse(fmt::format("its length is {}", header.length));
  if (buffer_.size() < sizeof header + header.length) return std::optional<Frame>();
  Frame frame{static_cast<FrameType>(type), buffer_.substr(sizeof header, header.length), {}};
  if (checksum(frame.payload) != header.sum) return refuse("its checksum is wrong");
  if ((header.type & descriptor_flag) != 0) {
    if (descriptors_.empty()) return refuse("it says that a descriptor comes with it, and none came");
    frame.descriptor = std::move(descriptors_.front());
    descriptors_.pop_front();
  }
  buffer_.erase(0, sizeof header + header.length);
  return std::optional<Frame>(std::move(frame));
}

Result<Frame> receive_frame(int socket, FrameReader& reader, FrameType type) {
  for (;;) {
    INFERMETER_TRY(auto frame, reader.next());
    if (frame && frame->type == type) return std::move(*frame);
    if (frame)
      return worker_error(fmt::format("a message of type {} came instead of type {}",
                                      static_cast<std::uint32_t>(frame->type), static_cast<std::uint32_t>(type)));
    INFERMETER_TRY(const bool open, reader.read_some(socket));
    if (!open) return worker_error("the other process has closed the connection");
  }
}

}  // namespace infermeter
