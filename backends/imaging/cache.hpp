// A cache that is bounded in bytes and counts exactly. Its memory is taken and touched when it is made: filling it
// costs no fresh pages, which would be dearer than what it saves.
//
// It is cold at the beginning of each run and belongs to one request, hence to one thread: what `find` and `add` give
// stays what it is until the next `add` or `forget`, and nobody else can take it away.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "positions.hpp"
#include "settings.hpp"

namespace infermeter {

// Everything that what is kept depends on; compared field by field. The hash only finds the bucket.
struct CacheKey {
  std::uint64_t object = 0;  // of the objects that this request was given, which are distinguished by their bytes
  int image_size = 0, detector = 0, radius = 0;
  Centre centre{};
  int line_length = 1;
  Detection detection = Detection::intensity;
  Storage storage = Storage::float32;
  Arithmetic arithmetic = Arithmetic::float32;
  bool operator==(const CacheKey&) const = default;
};
[[nodiscard]] std::uint64_t hash_of(const CacheKey& key);

struct CacheCounts {
  std::uint64_t lookups = 0, hits = 0, misses = 0, evictions = 0, entries = 0, bytes = 0, bytes_peak = 0;
};

class Cache {
 public:
  struct Limits {
    std::uint64_t entry_bytes = 0;   // of each: they are alike
    std::uint64_t most_entries = 0;  // more are never asked for
    std::uint64_t budget = 0;        // bytes; an entry that is larger is not kept
    Eviction eviction = Eviction::lru;
    std::uint64_t hash_mask = ~std::uint64_t{0};  // 0 forces all hashes equal: for tests
  };
  explicit Cache(const Limits& limits);

  // A lookup, and a hit or a miss. NULL: it is not there.
  [[nodiscard]] const std::byte* find(const CacheKey& key);
  // Room for an entry that is not there, filled by the caller; whoever must, makes room. NULL: it is not kept.
  [[nodiscard]] std::byte* add(const CacheKey& key);
  void forget();
  [[nodiscard]] const CacheCounts& counts() const { return counts_; }

 private:
  static constexpr std::uint32_t none = UINT32_MAX;
  struct Slot {
    CacheKey key;
    std::uint32_t next = none;                 // in its bucket
    std::uint32_t newer = none, older = none;  // in the order of use
  };
  [[nodiscard]] std::uint32_t& bucket_of(const CacheKey& key) {
    return buckets_[(hash_of(key) & hash_mask_) & (buckets_.size() - 1)];
  }
  [[nodiscard]] std::byte* bytes_at(std::uint32_t slot) { return bytes_.get() + slot * stride_; }
  void use(std::uint32_t slot);
  void unlink(std::uint32_t slot);
  [[nodiscard]] std::uint32_t make_room();

  struct Free {
    void operator()(std::byte* bytes) const { ::operator delete(bytes, std::align_val_t{64}); }
  };
  std::uint64_t entry_bytes_, stride_, hash_mask_;
  Eviction eviction_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> buckets_;
  std::uint32_t used_ = 0;
  std::uint32_t newest_ = none, oldest_ = none;
  std::unique_ptr<std::byte, Free> bytes_;
  CacheCounts counts_;
};

}  // namespace infermeter
