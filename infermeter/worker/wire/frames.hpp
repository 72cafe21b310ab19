// Frames: what goes through the one socket between launcher and worker.
//
// A frame is a header of 16 bytes (magic, type, length, CRC-32 of the payload; little-endian), the payload, and at most
// one descriptor that travels with the header. The launcher believes nothing of it: a wrong magic, type, length or sum
// ends the worker.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/worker/wall/file_descriptor.hpp"

namespace infermeter {

enum class FrameType : std::uint32_t {
  job = 1,       // launcher -> worker: what is to be done
  ports = 2,     // worker -> launcher: the model's inputs and outputs
  data = 3,      // launcher -> worker: a descriptor of the block of inputs; payload: its size
  facts = 4,     // worker -> launcher: the record so far
  outputs = 5,   // worker -> launcher: a descriptor of the block of outputs; payload: its size
  result = 6,    // worker -> launcher: the record; nothing follows
  info = 7,      // worker -> launcher: what a back end is
  listener = 8,  // worker -> supervisor: a descriptor at which system calls wait (system_calls.hpp)
  picture = 9,   // launcher -> worker: a file; worker -> launcher: its pixels, or why not (picture_process.hpp)
};

struct Frame {
  FrameType type{};
  std::string payload;
  FileDescriptor descriptor;
};

// Waits until it is written. `descriptor` < 0: none. The error says that the other side has gone.
[[nodiscard]] Result<Done> send_frame(int socket, FrameType type, std::string_view payload, int descriptor = -1);

// Takes bytes as they come and gives whole frames.
class FrameReader {
 public:
  // Whoever reads JSON of so many bytes needs up to 40 times as many: what a worker sends is believed in nothing.
  static constexpr std::size_t max_payload = 8U << 20;

  // Reads what is there, at most `max_read` bytes; false: the other side has closed.
  [[nodiscard]] Result<bool> read_some(int socket);
  // The next whole frame, if there is one. An error means that nothing that follows can be believed.
  [[nodiscard]] Result<std::optional<Frame>> next();

 private:
  std::string buffer_;
  std::deque<FileDescriptor> descriptors_;
};

// Blocks until a frame of `type` is there.
[[nodiscard]] Result<Frame> receive_frame(int socket, FrameReader& reader, FrameType type);

}  // namespace infermeter
