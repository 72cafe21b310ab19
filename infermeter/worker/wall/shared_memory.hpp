// SharedMemory: a memory file (memfd) and a mapping of it.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/worker/wall/file_descriptor.hpp"

namespace infermeter {

enum class Access { read, read_write };

// Unmapped with its last owner.
struct Mapping {
  std::span<std::byte> bytes;
  std::shared_ptr<void> owner;
};

class SharedMemory {
 public:
  // Zeroed; its size is sealed, so that the other side cannot pull pages away under a reader.
  [[nodiscard]] static Result<SharedMemory> create(std::size_t size, const char* name);
  [[nodiscard]] const FileDescriptor& descriptor() const { return descriptor_; }
  [[nodiscard]] std::span<std::byte> bytes() const { return mapping_.bytes; }
  // No new writer from here on; our own mapping goes.
  [[nodiscard]] Result<Done> make_read_only();

 private:
  FileDescriptor descriptor_;
  Mapping mapping_;
};

// Maps a memory file whose size is sealed; anything else is refused: it could be truncated under us.
[[nodiscard]] Result<Mapping> map_memory(int descriptor, Access access);

// Maps, to read, a memory file that a process filled which has ended. Refused: what could shrink, what is larger than
// `max_size`, and what is not there (a hole would be filled at our cost).
[[nodiscard]] Result<Mapping> map_filled_memory(int descriptor, std::size_t max_size);

}  // namespace infermeter
