#include "infermeter/worker/wire/frames.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>

#include "infermeter/worker/wall/shared_memory.hpp"

namespace infermeter::frames_test {
namespace {

using testing::HasSubstr;

struct Sockets {
  Sockets() {
    int pair[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    ours = FileDescriptor(pair[0]);
    theirs = FileDescriptor(pair[1]);
  }
  FileDescriptor ours, theirs;
  FrameReader reader;
};

// The bytes of a frame, as they go over the socket.
std::string bytes_of_frame(FrameType type, std::string_view payload) {
  Sockets sockets;
  EXPECT_TRUE(send_frame(sockets.theirs.get(), type, payload).ok());
  std::string bytes(16 + payload.size(), '\0');
  EXPECT_EQ(read(sockets.ours.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  return bytes;
}

Result<std::optional<Frame>> read_bytes(const std::string& bytes) {
  Sockets sockets;
  EXPECT_EQ(write(sockets.theirs.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  EXPECT_TRUE(sockets.reader.read_some(sockets.ours.get()).ok());
  return sockets.reader.next();
}

TEST(Frames, CrossWithTheirDescriptor) {
  Sockets sockets;
  const auto memory = SharedMemory::create(100, "test");
  ASSERT_TRUE(memory.ok());
  ASSERT_TRUE(send_frame(sockets.theirs.get(), FrameType::facts, "one").ok());
  ASSERT_TRUE(send_frame(sockets.theirs.get(), FrameType::outputs, "two", memory.value().descriptor().get()).ok());
  const auto first = receive_frame(sockets.ours.get(), sockets.reader, FrameType::facts);
  const auto second = receive_frame(sockets.ours.get(), sockets.reader, FrameType::outputs);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(first.value().payload, "one");
  EXPECT_FALSE(static_cast<bool>(first.value().descriptor));
  struct stat status{};
  ASSERT_EQ(fstat(second.value().descriptor.get(), &status), 0);
  EXPECT_EQ(status.st_size, 100);
}

TEST(Frames, ComeByteByByte) {
  const std::string bytes = bytes_of_frame(FrameType::result, "slowly");
  Sockets sockets;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    EXPECT_FALSE(sockets.reader.next().value().has_value());
    ASSERT_EQ(write(sockets.theirs.get(), &bytes[i], 1), 1);
    ASSERT_TRUE(sockets.reader.read_some(sockets.ours.get()).ok());
  }
  EXPECT_EQ(sockets.reader.next().value()->payload, "slowly");
}

TEST(Frames, EveryFlippedBitIsNoticed) {
  const std::string bytes = bytes_of_frame(FrameType::result, "payload");
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    const auto frame = read_bytes(flipped);
    const bool type_only = bit >= 32 && bit < 64;  // another type is the receiver's to refuse
    const bool longer = bit >= 64 && bit < 96;     // waits for more, or is refused
    if (frame.ok() && frame.value())
      EXPECT_TRUE(type_only) << bit;
    else
      EXPECT_TRUE(!frame.ok() || longer) << bit;
  }
}

TEST(Frames, EachKindOfNonsenseIsNamed) {
  std::string bytes = bytes_of_frame(FrameType::result, "payload");
  EXPECT_THAT(read_bytes("GET / HTTP/1.1\r\n\r\n").error().message, HasSubstr("does not begin as one"));
  std::string wrong = bytes;
  wrong[4] = 99;
  EXPECT_THAT(read_bytes(wrong).error().message, HasSubstr("its type is 99"));
  wrong = bytes;
  wrong[11] = 0x7f;
  EXPECT_THAT(read_bytes(wrong).error().message, HasSubstr("its length is"));
  wrong = bytes;
  wrong.back() = 'X';
  EXPECT_THAT(read_bytes(wrong).error().message, HasSubstr("checksum"));
  wrong = bytes;
  wrong[5] = 1;
  EXPECT_THAT(read_bytes(wrong).error().message, HasSubstr("descriptor"));
}

TEST(Frames, OfAnotherTypeThanAwaitedAreRefused) {
  Sockets sockets;
  ASSERT_TRUE(send_frame(sockets.theirs.get(), FrameType::facts, "").ok());
  EXPECT_FALSE(receive_frame(sockets.ours.get(), sockets.reader, FrameType::data).ok());
}

TEST(Frames, AClosedSocketIsSaid) {
  Sockets sockets;
  sockets.theirs.reset();
  EXPECT_THAT(receive_frame(sockets.ours.get(), sockets.reader, FrameType::data).error().message, HasSubstr("closed"));
  EXPECT_FALSE(send_frame(sockets.ours.get(), FrameType::job, "x").ok()) << "and no SIGPIPE";
}

TEST(Frames, TooLongAMessageIsNotSent) {
  Sockets sockets;
  const std::string payload(FrameReader::max_payload + 1, 'x');
  EXPECT_FALSE(send_frame(sockets.ours.get(), FrameType::job, payload).ok());
}

TEST(SharedMemory, CannotShrinkUnderAReader) {
  const auto memory = SharedMemory::create(10'000, "test");
  ASSERT_TRUE(memory.ok());
  EXPECT_NE(ftruncate(memory.value().descriptor().get(), 10), 0);
  memory.value().bytes()[9'999] = std::byte{7};
  const auto mapping = map_memory(memory.value().descriptor().get(), Access::read);
  ASSERT_TRUE(mapping.ok());
  EXPECT_EQ(mapping.value().bytes[9'999], std::byte{7});
}

TEST(SharedMemory, ReadOnlyMeansReadOnly) {
  auto memory = SharedMemory::create(100, "test");
  ASSERT_TRUE(memory.value().make_read_only().ok());
  EXPECT_FALSE(map_memory(memory.value().descriptor().get(), Access::read_write).ok());
  EXPECT_TRUE(map_memory(memory.value().descriptor().get(), Access::read).ok());
}

TEST(SharedMemory, WhatIsNoMemoryFileIsRefused) {
  Sockets sockets;
  int pipes[2];
  ASSERT_EQ(pipe(pipes), 0);
  const FileDescriptor reading(pipes[0]), writing(pipes[1]);
  EXPECT_FALSE(map_filled_memory(reading.get(), 1000).ok()) << "and does not block";
  EXPECT_FALSE(map_filled_memory(sockets.ours.get(), 1000).ok());
  EXPECT_FALSE(map_memory(-1, Access::read).ok());
  const auto memory = SharedMemory::create(1001, "test");
  EXPECT_FALSE(map_filled_memory(memory.value().descriptor().get(), 1000).ok()) << "too large";
}

TEST(SharedMemory, WhatIsSaidToBeThereAndIsNotIsRefused) {
  constexpr std::size_t size = 1U << 20U;
  const auto memory = SharedMemory::create(size, "test");
  EXPECT_THAT(map_filled_memory(memory.value().descriptor().get(), size).error().message, HasSubstr("are not there"));
  std::ranges::fill(memory.value().bytes(), std::byte{3});
  const auto mapping = map_filled_memory(memory.value().descriptor().get(), size);
  ASSERT_TRUE(mapping.ok()) << mapping.error().message;
  EXPECT_EQ(mapping.value().bytes[size - 1], std::byte{3});
}

}  // namespace
}  // namespace infermeter::frames_test
