#include "infermeter/worker/wall/shared_memory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <cerrno>
#include <cstring>

namespace infermeter {
namespace {

Error system_failed(std::string_view doing) {
  return internal_error(fmt::format("{} failed: {}", doing, std::strerror(errno)));
}

Result<Mapping> map_bytes(int descriptor, std::size_t size, Access access) {
  const int protection = access == Access::read ? PROT_READ : PROT_READ | PROT_WRITE;
  void* const address = mmap(nullptr, size, protection, MAP_SHARED, descriptor, 0);
  if (address == MAP_FAILED) return system_failed(fmt::format("mapping {} bytes of shared memory", size));
  std::shared_ptr<void> owner(address, [size](void* mapped) { munmap(mapped, size); });
  return Mapping{{static_cast<std::byte*>(address), size}, std::move(owner)};
}

// Only memory files can be sealed at all.
Result<int> seals_of(int descriptor) {
  const int seals = fcntl(descriptor, F_GET_SEALS);
  if (seals < 0) return worker_error("the descriptor that came is not a memory file");
  return seals;
}

Result<std::size_t> size_of(int descriptor) {
  struct stat status{};
  if (fstat(descriptor, &status) != 0) return system_failed("asking for the size of shared memory");
  return static_cast<std::size_t>(status.st_size);
}

}  // namespace

Result<SharedMemory> SharedMemory::create(std::size_t size, const char* name) {
  SharedMemory memory;
  memory.descriptor_ = FileDescriptor(memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!memory.descriptor_) return system_failed("making shared memory");
  // A mapping of nothing is not possible.
  const std::size_t at_least = std::max<std::size_t>(size, 1);
  if (ftruncate(memory.descriptor_.get(), static_cast<off_t>(at_least)) != 0)
    return system_failed(fmt::format("making {} bytes of shared memory", at_least));
  if (fcntl(memory.descriptor_.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0)
    return system_failed("sealing shared memory");
  INFERMETER_TRY(memory.mapping_, map_bytes(memory.descriptor_.get(), at_least, Access::read_write));
  return memory;
}

Result<Done> SharedMemory::make_read_only() {
  mapping_ = {};
  if (fcntl(descriptor_.get(), F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SEAL) != 0)
    return system_failed("sealing shared memory");
  return Done{};
}

Result<Mapping> map_memory(int descriptor, Access access) {
  INFERMETER_TRY(const int seals, seals_of(descriptor));
  if ((seals & F_SEAL_SHRINK) == 0) return worker_error("the shared memory that came could shrink");
  INFERMETER_TRY(const std::size_t size, size_of(descriptor));
  return map_bytes(descriptor, size, access);
}

Result<Mapping> map_filled_memory(int descriptor, std::size_t max_size) {
  INFERMETER_TRY(const int seals, seals_of(descriptor));
  if ((seals & F_SEAL_SHRINK) == 0) return worker_error("the shared memory that came could shrink");
  struct stat status{};
  struct statfs system{};
  if (fstat(descriptor, &status) != 0 || fstatfs(descriptor, &system) != 0)
    return system_failed("asking for the size of shared memory");
  if (system.f_type != TMPFS_MAGIC) return worker_error("the shared memory that came is of another kind than ours");
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size > max_size) return worker_error(fmt::format("the worker's outputs take {} bytes: too many", size));
  constexpr std::size_t bytes_per_block = 512;  // stat(2)
  if (size == 0 || static_cast<std::size_t>(status.st_blocks) < size / bytes_per_block)
    return worker_error(fmt::format("the worker's outputs are said to take {} bytes and are not there", size));
  return map_bytes(descriptor, size, Access::read);
}

}  // namespace infermeter
