#include "infermeter/models/mapped_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <utility>

#include "infermeter/text/quoted.hpp"

namespace infermeter {
namespace {

Error cannot_read(const std::filesystem::path& file, int error) {
  return usage_error(fmt::format("cannot read the model file {}: {}", in_quotes(file.string()), std::strerror(error)));
}

// What a handler of signals may look at. A place is free where `begin` is nullptr.
struct WatchedMapping {
  std::atomic<const char*> begin{nullptr};
  std::atomic<std::size_t> size{0};
  std::atomic<bool> was_cut{false};
};
std::array<WatchedMapping, 64> watched;
struct sigaction action_before{};

WatchedMapping* watched_at(const char* address) {
  for (WatchedMapping& mapping : watched) {
    const char* const begin = mapping.begin.load();
    if (begin != nullptr && address >= begin && address < begin + mapping.size.load()) return &mapping;
  }
  return nullptr;
}

// Behind the file's new end there are zeros from here on. Any other SIGBUS happens again, as it would without us.
void replace_what_was_cut(int, siginfo_t* signal, void*) {
  auto* const address = static_cast<char*>(signal->si_addr);
  WatchedMapping* const mapping = watched_at(address);
  if (mapping == nullptr) {
    ::sigaction(SIGBUS, &action_before, nullptr);
    if (signal->si_code <= 0) ::raise(SIGBUS);  // it was sent: nothing is about to be repeated
    return;
  }
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  char* const first = address - reinterpret_cast<std::uintptr_t>(address) % page;
  const auto size = static_cast<std::size_t>(mapping->begin.load() + mapping->size.load() - first);
  mapping->was_cut = true;
  if (::mmap(first, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED) {
    ::sigaction(SIGBUS, &action_before, nullptr);
  }
}

bool watch_mapping(const char* begin, std::size_t size) {
  static std::mutex one_at_a_time;
  const std::scoped_lock lock(one_at_a_time);
  struct sigaction now{};
  ::sigaction(SIGBUS, nullptr, &now);
  if (now.sa_sigaction != replace_what_was_cut) {  // the first, or another's handler came since
    action_before = now;
    struct sigaction ours{};
    ours.sa_sigaction = replace_what_was_cut;
    ours.sa_flags = SA_SIGINFO;
    ::sigaction(SIGBUS, &ours, nullptr);
  }
  for (WatchedMapping& place : watched) {
    if (place.begin.load() != nullptr) continue;
    place.size = size;
    place.was_cut = false;
    place.begin = begin;
    return true;
  }
  return false;
}

}  // namespace

Result<MappedFile> MappedFile::open(const std::filesystem::path& file) {
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (descriptor < 0) return cannot_read(file, errno);
  struct stat status{};
  void* data = MAP_FAILED;
  int error = ::fstat(descriptor, &status) == 0 ? 0 : errno;
  const bool is_regular = S_ISREG(status.st_mode);
  const auto size = static_cast<std::size_t>(status.st_size);
  if (error == 0 && is_regular && size > 0) {
    data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (data == MAP_FAILED) error = errno;
  }
  ::close(descriptor);
  if (error != 0) return cannot_read(file, error);
  if (!is_regular) return usage_error(fmt::format("the model {} is not a regular file", in_quotes(file.string())));
  if (size == 0) return model_error(fmt::format("the model file {} is empty", in_quotes(file.string())));
  if (!watch_mapping(static_cast<const char*>(data), size)) {
    ::munmap(data, size);
    return internal_error(fmt::format("{} cannot be read: too many files are being read", in_quotes(file.string())));
  }
  return MappedFile(file.string(), static_cast<const char*>(data), size);
}

Result<Done> MappedFile::check_whole() const {
  const WatchedMapping* const mapping = watched_at(data_);
  if (mapping == nullptr || !mapping->was_cut) return Done{};
  return io_error(fmt::format("{} was cut while it was read: give it again when it is complete", in_quotes(name_)));
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : name_(std::move(other.name_)), data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(name_, other.name_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

MappedFile::~MappedFile() {
  if (data_ == nullptr) return;
  if (WatchedMapping* const mapping = watched_at(data_)) mapping->begin = nullptr;
  ::munmap(const_cast<char*>(data_), size_);
}

}  // namespace infermeter
