// LazyPages: zeroed memory of this process that exists only as far as it is used.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>
#include <span>

namespace infermeter {

class LazyPages {
 public:
  explicit LazyPages(std::size_t bytes)
      : address_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)),
        size_(bytes) {
    if (address_ == MAP_FAILED) throw std::bad_alloc();
  }
  ~LazyPages() { munmap(address_, size_); }
  LazyPages(const LazyPages&) = delete;
  LazyPages& operator=(const LazyPages&) = delete;

  [[nodiscard]] std::span<std::byte> bytes() const { return {static_cast<std::byte*>(address_), size_}; }

 private:
  void* address_;
  std::size_t size_;
};

}  // namespace infermeter
