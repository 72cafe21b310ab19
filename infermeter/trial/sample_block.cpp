#include "infermeter/trial/sample_block.hpp"

#include <algorithm>
#include <new>

namespace infermeter {
namespace {

constexpr std::uint64_t magic = 0x314b4c42'46494e49U;  // "INIFBLK1"
constexpr std::uint32_t version = 2;
constexpr std::size_t page = 4096;
static_assert(sizeof(SampleHeader) <= page);

std::size_t whole_pages(std::size_t bytes) { return (bytes + page - 1) / page * page; }

}  // namespace

SampleCapacity SampleBlock::capacity_for(const Stopping& stopping, bool time_it, bool is_load) {
  if (!time_it) return {};
  const auto warmup = std::min(static_cast<std::uint64_t>(std::max<std::int64_t>(stopping.warmup, 0)), max_warmup);
  if (stopping.duration_s && !stopping.iterations) return {warmup, is_load ? max_by_duration_of_load : max_by_duration};
  const auto wanted = static_cast<std::uint64_t>(std::max<std::int64_t>(stopping.iterations.value_or(0), 0));
  return {warmup, std::min(wanted, max_iterations)};
}

std::size_t SampleBlock::bytes_for(const SampleCapacity& capacity) {
  return page + bytes_of(capacity.warmup) + bytes_of(capacity.timed);
}

std::size_t SampleBlock::bytes_of(std::uint64_t iterations) { return whole_pages(iterations * sizeof(TickPair)); }

SampleBlock::SampleBlock(std::span<std::byte> memory, const SampleCapacity& capacity, ClockKind clock,
                         const ClockPair& start)
    : header_(reinterpret_cast<SampleHeader*>(memory.data())), clock_(clock), start_(start) {
  std::byte* const pairs = memory.data() + page;
  warmup_ = {reinterpret_cast<TickPair*>(pairs), capacity.warmup};
  timed_ = {reinterpret_cast<TickPair*>(pairs + bytes_of(capacity.warmup)), capacity.timed};
}

SampleBlock SampleBlock::create(std::span<std::byte> memory, const SampleCapacity& capacity, ClockKind clock,
                                const ClockPair& start) {
  INFERMETER_CHECK(memory.size() >= bytes_for(capacity));
  auto* const header = new (memory.data()) SampleHeader{};
  header->magic = magic;
  header->version = version;
  header->clock_kind = static_cast<std::uint32_t>(clock);
  header->warmup_capacity = capacity.warmup;
  header->timed_capacity = capacity.timed;
  header->start = start;
  return {memory, capacity, clock, start};
}

Result<SampleBlock> SampleBlock::open(std::span<std::byte> memory) {
  if (memory.size() < page) return internal_error("the sample block is too small for its header");
  const auto* const header = reinterpret_cast<const SampleHeader*>(memory.data());
  if (header->magic != magic || header->version != version)
    return internal_error("the sample block is of another version: the launcher and the worker do not belong together");
  const SampleCapacity capacity{header->warmup_capacity, header->timed_capacity};
  if (capacity.warmup > max_warmup || capacity.timed > max_iterations || bytes_for(capacity) > memory.size())
    return internal_error("the sample block is shorter than its header says");
  return SampleBlock(memory, capacity, static_cast<ClockKind>(header->clock_kind), header->start);
}

std::span<const TickPair> SampleBlock::warmup_done() const {
  const std::uint64_t done = header_->warmup_done.load(std::memory_order_acquire);
  return warmup_.first(std::min<std::uint64_t>(done, warmup_.size()));
}

std::int64_t SampleBlock::warmup_iterations() const {
  constexpr std::uint64_t most = std::uint64_t{1} << 53;  // a worker's word, and a number of JSON
  return static_cast<std::int64_t>(std::min(header_->warmup_done.load(std::memory_order_acquire), most));
}

std::span<const TickPair> SampleBlock::timed_done() const {
  const std::uint64_t done = header_->timed_done.load(std::memory_order_acquire);
  return timed_.first(std::min<std::uint64_t>(done, timed_.size()));
}

Phase SampleBlock::phase() const {
  const std::uint32_t value = header_->phase.load(std::memory_order_acquire);
  return static_cast<Phase>(std::min(value, static_cast<std::uint32_t>(Phase::done)));
}

std::size_t SampleBlock::touch(std::uint64_t timed) const {
  const std::size_t bytes = bytes_of(std::min<std::uint64_t>(timed, timed_.size()));
  auto* const begin = reinterpret_cast<volatile std::byte*>(timed_.data());
  for (std::size_t offset = 0; offset < bytes; offset += page) begin[offset] = std::byte{0};
  return bytes;
}

}  // namespace infermeter
