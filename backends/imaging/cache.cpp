#include "cache.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>

#include "hashing.hpp"

namespace infermeter {

std::uint64_t hash_of(const CacheKey& key) {
  const auto pair = [](int high, int low) {
    return (std::uint64_t{static_cast<std::uint32_t>(high)} << 32U) | static_cast<std::uint32_t>(low);
  };
  const auto kind =
      static_cast<int>(key.detection) * 4 + static_cast<int>(key.storage) * 2 + static_cast<int>(key.arithmetic);
  std::uint64_t hash = mixed(key.object);
  for (const std::uint64_t part : {pair(key.centre.y, key.centre.x), pair(key.image_size, key.detector),
                                   pair(key.radius, key.line_length * 8 + kind)})
    hash = mixed(hash ^ part);
  return hash;
}

Cache::Cache(const Limits& limits)
    : entry_bytes_(limits.entry_bytes),
      stride_((limits.entry_bytes + 63) / 64 * 64),
      hash_mask_(limits.hash_mask),
      eviction_(limits.eviction),
      slots_(std::min(limits.most_entries, limits.entry_bytes == 0 ? 0 : limits.budget / limits.entry_bytes)),
      buckets_(std::bit_ceil(2 * slots_.size() + 1), none) {
  if (slots_.empty()) return;
  const std::size_t size = slots_.size() * stride_;
  bytes_.reset(static_cast<std::byte*>(::operator new(size, std::align_val_t{64})));
  std::memset(bytes_.get(), 0, size);
}

const std::byte* Cache::find(const CacheKey& key) {
  ++counts_.lookups;
  for (std::uint32_t slot = bucket_of(key); slot != none; slot = slots_[slot].next) {
    if (slots_[slot].key != key) continue;
    ++counts_.hits;
    if (slot != newest_) {
      unlink(slot);
      use(slot);
    }
    return bytes_at(slot);
  }
  ++counts_.misses;
  return nullptr;
}

std::byte* Cache::add(const CacheKey& key) {
  if (slots_.empty()) return nullptr;
  const std::uint32_t slot = used_ < slots_.size() ? used_++ : make_room();
  slots_[slot].key = key;
  std::uint32_t& bucket = bucket_of(key);
  slots_[slot].next = bucket;
  bucket = slot;
  use(slot);
  counts_.entries = used_;
  counts_.bytes = used_ * entry_bytes_;
  counts_.bytes_peak = std::max(counts_.bytes_peak, counts_.bytes);
  return bytes_at(slot);
}

void Cache::forget() {
  std::ranges::fill(buckets_, none);
  used_ = 0;
  newest_ = oldest_ = none;
  counts_ = {};
}

// Now the one that was used last.
void Cache::use(std::uint32_t slot) {
  slots_[slot].newer = none;
  slots_[slot].older = newest_;
  if (newest_ != none) slots_[newest_].newer = slot;
  newest_ = slot;
  if (oldest_ == none) oldest_ = slot;
}

// Out of the order of use.
void Cache::unlink(std::uint32_t slot) {
  const Slot& it = slots_[slot];
  (it.newer != none ? slots_[it.newer].older : newest_) = it.older;
  (it.older != none ? slots_[it.older].newer : oldest_) = it.newer;
}

std::uint32_t Cache::make_room() {
  const std::uint32_t slot = eviction_ == Eviction::lru ? oldest_ : newest_;
  std::uint32_t* link = &bucket_of(slots_[slot].key);
  while (*link != slot) link = &slots_[*link].next;
  *link = slots_[slot].next;
  unlink(slot);
  ++counts_.evictions;
  return slot;
}

}  // namespace infermeter
