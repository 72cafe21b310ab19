#include "infermeter/worker/profile/perf_records.hpp"

#include <linux/perf_event.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <string>

namespace infermeter {
namespace {

constexpr std::size_t deepest = 1024;  // frames; the kernel's own limit is 127 unless it was raised
constexpr std::uint64_t markers = ~std::uint64_t{0} - 4095;  // PERF_CONTEXT_*: what follows, not an address

// Takes values off the front; false from the first that is not there whole.
class Fields {
 public:
  explicit Fields(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <class T>
  bool take(T& value) {
    if (bytes_.size() < sizeof value) return false;
    std::memcpy(&value, bytes_.data(), sizeof value);
    bytes_ = bytes_.subspan(sizeof value);
    return true;
  }
  bool take(std::vector<std::uint64_t>& values, std::uint64_t count) {
    if (count > bytes_.size() / sizeof(std::uint64_t)) return false;
    values.resize(count);
    if (count > 0) std::memcpy(values.data(), bytes_.data(), count * sizeof(std::uint64_t));
    bytes_ = bytes_.subspan(count * sizeof(std::uint64_t));
    return true;
  }
  bool take(std::span<const std::byte>& part, std::uint64_t size) {
    if (size > bytes_.size()) return false;
    part = bytes_.first(size);
    bytes_ = bytes_.subspan(size);
    return true;
  }
  [[nodiscard]] std::string text() const {  // up to its zero
    const auto* const begin = reinterpret_cast<const char*>(bytes_.data());
    return {begin, std::find(begin, begin + bytes_.size(), '\0')};
  }

 private:
  std::span<const std::byte> bytes_;
};

bool take_call_chain(Fields& fields, RawSample& sample) {
  std::uint64_t count = 0;
  std::vector<std::uint64_t> chain;
  if (!fields.take(count) || !fields.take(chain, count)) return false;
  const std::uint64_t at = sample.addresses.front();
  std::erase_if(chain, [](std::uint64_t address) { return address >= markers; });
  // The chain begins with the address itself, unless the walk failed at once.
  if (!chain.empty() && chain.front() == at) chain.erase(chain.begin());
  if (chain.size() > deepest) chain.resize(deepest);
  sample.addresses.insert(sample.addresses.end(), chain.begin(), chain.end());
  return true;
}

bool take_stack(Fields& fields, RawSample& sample) {
  std::uint64_t abi = 0, size = 0, used = 0;
  if (!fields.take(abi)) return false;
  constexpr int registers = std::popcount(kSampledRegisters);
  if (abi != PERF_SAMPLE_REGS_ABI_NONE && !fields.take(sample.registers, registers)) return false;
  if (!fields.take(size)) return false;
  std::span<const std::byte> bytes;
  if (size == 0) return true;
  if (!fields.take(bytes, size) || !fields.take(used)) return false;
  bytes = bytes.first(std::min<std::uint64_t>(used, size));
  sample.stack.assign(bytes.begin(), bytes.end());
  return true;
}

bool read_sample(Fields fields, PerfSampleForm form, RawStacks& into) {
  std::uint64_t address = 0, time = 0;
  std::uint32_t process = 0;
  RawSample sample;
  if (!fields.take(address) || !fields.take(process) || !fields.take(sample.thread) || !fields.take(time)) return false;
  sample.monotonic_ns = static_cast<std::int64_t>(time);
  sample.addresses = {address};
  if (!(form == PerfSampleForm::call_chain ? take_call_chain(fields, sample) : take_stack(fields, sample)))
    return false;
  if (process == into.process) into.samples.push_back(std::move(sample));
  return true;
}

bool read_mapping(Fields fields, RawStacks& into) {
  std::uint32_t process = 0, thread = 0, protection = 0, flags = 0;
  std::uint64_t generation = 0;
  MappedCode code;
  const bool whole = fields.take(process) && fields.take(thread) && fields.take(code.begin) && fields.take(code.end) &&
                     fields.take(code.file_offset) && fields.take(code.device_major) &&
                     fields.take(code.device_minor) && fields.take(code.inode) && fields.take(generation) &&
                     fields.take(protection) && fields.take(flags);
  if (!whole || code.end > ~std::uint64_t{0} - code.begin) return false;
  code.end += code.begin;  // the record has a length
  code.path = fields.text();
  if (process == into.process) into.code.push_back(std::move(code));
  return true;
}

bool read_loss(Fields fields, RawStacks& into) {
  std::uint64_t event = 0, lost = 0;
  if (!fields.take(event) || !fields.take(lost)) return false;
  into.lost += lost;
  return true;
}

bool read_record(std::uint32_t type, std::span<const std::byte> body, PerfSampleForm form, RawStacks& into) {
  switch (type) {
    case PERF_RECORD_SAMPLE: return read_sample(Fields(body), form, into);
    case PERF_RECORD_MMAP2: return read_mapping(Fields(body), into);
    case PERF_RECORD_LOST: return read_loss(Fields(body), into);
    default: return true;  // of no interest
  }
}

// The size of the record at the front; nullopt: there is no whole one.
std::optional<std::size_t> record_size(std::span<const std::byte> bytes, perf_event_header& header) {
  if (bytes.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.size < sizeof header || header.size > bytes.size()) return std::nullopt;
  return header.size;
}

}  // namespace

void read_perf_records(std::span<const std::byte> bytes, PerfSampleForm form, RawStacks& into) {
  while (!bytes.empty()) {
    perf_event_header header{};
    const auto size = record_size(bytes, header);
    if (!size || !read_record(header.type, bytes.first(*size).subspan(sizeof header), form, into)) {
      into.cut = true;
      return;
    }
    bytes = bytes.subspan(*size);
  }
}

void append_without_samples(std::span<const std::byte> records, std::vector<std::byte>& kept) {
  perf_event_header header{};
  while (const auto size = record_size(records, header)) {
    if (header.type != PERF_RECORD_SAMPLE)
      kept.insert(kept.end(), records.begin(), records.begin() + static_cast<std::ptrdiff_t>(*size));
    records = records.subspan(*size);
  }
}

}  // namespace infermeter
