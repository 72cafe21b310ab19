#include "infermeter/worker/profile/perf_records.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/perf_event.h>

#include <bit>
#include <cstring>
#include <random>

namespace infermeter::perf_records_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::uint32_t process = 100;
constexpr std::uint64_t user_follows = PERF_CONTEXT_USER;

// Records as the kernel writes them.
class Records {
 public:
  template <class T>
  Records& put(T value) {
    const auto* const bytes = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), bytes, bytes + sizeof value);
    return *this;
  }
  Records& begin(std::uint32_t type) {
    begin_ = bytes_.size();
    return put(perf_event_header{.type = type, .misc = PERF_RECORD_MISC_USER, .size = 0});
  }
  Records& end() {
    const auto size = static_cast<std::uint16_t>(bytes_.size() - begin_);
    std::memcpy(bytes_.data() + begin_ + offsetof(perf_event_header, size), &size, sizeof size);
    return *this;
  }
  Records& sample(std::uint64_t address, std::uint32_t of, std::uint32_t thread, std::uint64_t time) {
    return begin(PERF_RECORD_SAMPLE).put(address).put(of).put(thread).put(time);
  }
  Records& chain(std::initializer_list<std::uint64_t> addresses) {
    put(std::uint64_t{addresses.size()});
    for (const std::uint64_t address : addresses) put(address);
    return end();
  }
  Records& mapping(std::uint64_t begin_at, std::uint64_t size, std::string path) {
    begin(PERF_RECORD_MMAP2).put(process).put(process).put(begin_at).put(size).put(std::uint64_t{0x1000});
    put(std::uint32_t{8}).put(std::uint32_t{1}).put(std::uint64_t{77}).put(std::uint64_t{0});
    put(std::uint32_t{5}).put(std::uint32_t{2});
    path.resize((path.size() + 8) / 8 * 8);
    for (const char c : path) put(c);
    return end();
  }
  Records& lost(std::uint64_t count) { return begin(PERF_RECORD_LOST).put(std::uint64_t{1}).put(count).end(); }
  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
  std::size_t begin_ = 0;
};

RawStacks read(std::span<const std::byte> bytes, PerfSampleForm form = PerfSampleForm::call_chain) {
  RawStacks stacks;
  stacks.process = process;
  read_perf_records(bytes, form, stacks);
  return stacks;
}

TEST(PerfRecords, HasSamplesMappingsAndLosses) {
  Records records;
  records.sample(0x10, process, 101, 5).chain({user_follows, 0x10, 0x20, 0x30});
  records.mapping(0x1000, 0x500, "/usr/lib/libx.so").lost(3);
  records.sample(0x11, process, 100, 6).chain({user_follows});
  const RawStacks stacks = read(records.bytes());
  ASSERT_THAT(stacks.samples, SizeIs(2));
  EXPECT_EQ(stacks.samples[0].thread, 101U);
  EXPECT_EQ(stacks.samples[0].monotonic_ns, 5);
  EXPECT_THAT(stacks.samples[0].addresses, ElementsAre(0x10, 0x20, 0x30));
  EXPECT_THAT(stacks.samples[1].addresses, ElementsAre(0x11)) << "a chain that is empty still has where it was";
  EXPECT_THAT(stacks.code, ElementsAre(MappedCode{.begin = 0x1000,
                                                  .end = 0x1500,
                                                  .file_offset = 0x1000,
                                                  .device_major = 8,
                                                  .device_minor = 1,
                                                  .inode = 77,
                                                  .path = "/usr/lib/libx.so"}));
  EXPECT_EQ(stacks.lost, 3U);
  EXPECT_FALSE(stacks.cut);
}

TEST(PerfRecords, LeavesOutOtherProcesses) {
  Records records;
  records.sample(0x10, 7, 7, 5).chain({user_follows, 0x10});
  EXPECT_THAT(read(records.bytes()).samples, IsEmpty());
}

TEST(PerfRecords, SkipsWhatItDoesNotKnow) {
  Records records;
  records.begin(4711).put(std::uint64_t{1}).end().lost(1);
  EXPECT_EQ(read(records.bytes()).lost, 1U);
}

Records with_stack(std::uint64_t used) {
  Records records;
  records.sample(0x10, process, 100, 5).put(std::uint64_t{PERF_SAMPLE_REGS_ABI_64});
  for (int i = 0; i < std::popcount(kSampledRegisters); ++i)
    records.put(std::uint64_t{1000U + static_cast<unsigned>(i)});
  records.put(std::uint64_t{16}).put(std::uint64_t{0xabcd}).put(std::uint64_t{0}).put(used).end();
  return records;
}

TEST(PerfRecords, HasRegistersAndTheUsedPartOfTheStack) {
  if (kSampledRegisters == 0) GTEST_SKIP() << "this processor's registers are not known";
  const RawStacks stacks = read(with_stack(8).bytes(), PerfSampleForm::stack);
  ASSERT_THAT(stacks.samples, SizeIs(1));
  EXPECT_THAT(stacks.samples[0].registers, SizeIs(static_cast<std::size_t>(std::popcount(kSampledRegisters))));
  EXPECT_EQ(stacks.samples[0].registers.back(), 1000U + static_cast<unsigned>(std::popcount(kSampledRegisters)) - 1);
  EXPECT_THAT(stacks.samples[0].stack, SizeIs(8));
  EXPECT_THAT(read(with_stack(~std::uint64_t{0}).bytes(), PerfSampleForm::stack).samples.at(0).stack, SizeIs(16))
      << "no more than what was copied, whatever is said";
}

TEST(PerfRecords, HasSamplesOfKernelThreadsWithoutRegisters) {
  Records records;
  records.sample(0x10, process, 100, 5).put(std::uint64_t{PERF_SAMPLE_REGS_ABI_NONE}).put(std::uint64_t{0}).end();
  const RawStacks stacks = read(records.bytes(), PerfSampleForm::stack);
  ASSERT_THAT(stacks.samples, SizeIs(1));
  EXPECT_THAT(stacks.samples[0].registers, IsEmpty());
}

TEST(PerfRecords, EndsAtWhatIsNoRecord) {
  const Records good = [] {
    Records records;
    records.sample(0x10, process, 100, 5).chain({user_follows, 0x10});
    return records;
  }();
  for (std::size_t length = 1; length < good.bytes().size(); ++length) {
    const RawStacks stacks = read(good.bytes().first(length));
    EXPECT_TRUE(stacks.cut) << length;
    EXPECT_THAT(stacks.samples, IsEmpty()) << length;
  }
  Records zero;
  zero.put(perf_event_header{.type = PERF_RECORD_LOST, .misc = 0, .size = 0});
  EXPECT_TRUE(read(zero.bytes()).cut) << "a record of no length would never end";
  Records deep;
  deep.sample(0x10, process, 100, 5).put(~std::uint64_t{0} / 8 + 2).end();
  EXPECT_TRUE(read(deep.bytes()).cut) << "a chain that says that it is longer than memory";
  Records wide;
  wide.mapping(~std::uint64_t{0} - 1, 100, "/x");
  EXPECT_THAT(read(wide.bytes()).code, IsEmpty());
}

TEST(PerfRecords, BearsAnyBytes) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 3000; ++round) {
    Records records;
    records.sample(0x10, process, 100, 5).chain({user_follows, 0x10, 0x20}).mapping(0, 1, "/a").lost(1);
    std::vector<std::byte> bytes(records.bytes().begin(), records.bytes().end());
    for (int i = 0; i < 4; ++i) bytes[random() % bytes.size()] = static_cast<std::byte>(random());
    const RawStacks chains = read(bytes), stacks = read(bytes, PerfSampleForm::stack);
    EXPECT_LE(chains.samples.size() + stacks.samples.size(), 8U);
  }
}

TEST(PerfRecords, KeepsAllButSamples) {
  Records records;
  records.sample(0x10, process, 100, 5).chain({0x10}).mapping(0x1000, 1, "/x").sample(0x10, process, 100, 6).chain({});
  std::vector<std::byte> kept;
  append_without_samples(records.bytes(), kept);
  const RawStacks stacks = read(kept);
  EXPECT_THAT(stacks.samples, IsEmpty());
  EXPECT_THAT(stacks.code, SizeIs(1));
}

}  // namespace
}  // namespace infermeter::perf_records_test
