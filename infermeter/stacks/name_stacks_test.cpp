#include "infermeter/stacks/name_stacks.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "infermeter/stacks/test_process.hpp"

namespace infermeter::name_stacks_test {

[[gnu::noinline]] int a_function_with_a_name(int value) { return value * 3 + 1; }

namespace {

using namespace test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

std::uint64_t here() { return reinterpret_cast<std::uint64_t>(&a_function_with_a_name); }

StackProfile named(const RawStacks& stacks) {
  ModuleCache modules;
  return name_stacks(stacks, modules);
}

// The frames of the only sample, outermost first.
std::vector<StackFrame> frames_of(const StackProfile& profile) {
  std::vector<StackFrame> frames;
  for (const std::uint32_t frame : profile.samples.at(0).frames) frames.push_back(profile.frames.at(frame));
  return frames;
}

TEST(NameStacks, NamesFunctionsOfFiles) {
  RawStacks stacks = of_this_process();
  stacks.origin_ns = 1'000;
  stacks.samples = {{.monotonic_ns = 500'001'000, .thread = stacks.process, .addresses = {here() + 1}}};
  const StackProfile profile = named(stacks);
  ASSERT_THAT(profile.frames, SizeIs(1));
  EXPECT_EQ(profile.frames[0].symbol, "infermeter::name_stacks_test::a_function_with_a_name(int)");
  EXPECT_THAT(profile.frames[0].module, HasSubstr("infermeter_stacks_test"));
  EXPECT_EQ(profile.frames[0].offset, 0U);
  EXPECT_DOUBLE_EQ(profile.samples[0].t_s, 0.5);
  EXPECT_THAT(profile.threads, ElementsAre("main"));
  EXPECT_EQ(profile.unit, "samples");
}

TEST(NameStacks, FunctionsWithoutASymbolHaveTheirBegin) {
  RawStacks stacks = of_this_process();
  // qsort's comparison helpers and the like: the C library is stripped, its unwind table is not.
  const auto code = std::ranges::find_if(
      stacks.code, [](const MappedCode& one) { return one.path.find("libc.so") != std::string::npos; });
  ASSERT_NE(code, stacks.code.end());
  ModuleCache modules;
  const ModuleSymbols* const symbols = modules.symbols_of(*code);
  ASSERT_NE(symbols, nullptr);
  int without_symbol = 0;
  for (std::uint64_t offset = 0; offset + code->begin < code->end && without_symbol == 0; offset += 64) {
    const auto function = symbols->function_at(symbols->address_of(code->file_offset + offset).value_or(0));
    if (!function || !function->name.empty()) continue;
    without_symbol += 1;
    const auto again = symbols->function_at(function->begin);
    ASSERT_TRUE(again);
    EXPECT_EQ(again->begin, function->begin);
  }
  if (without_symbol == 0) GTEST_SKIP() << "this C library has all its symbols";
}

TEST(NameStacks, ACallerIsTheFunctionThatCalled) {
  RawStacks stacks = of_this_process();
  // Goes on at the very begin of the function behind: the call was the last instruction of the one before.
  stacks.samples = {{.thread = 1, .addresses = {here(), here()}}};
  const auto frames = frames_of(named(stacks));
  ASSERT_THAT(frames, SizeIs(2));
  EXPECT_EQ(frames[1].symbol, "infermeter::name_stacks_test::a_function_with_a_name(int)");
  EXPECT_NE(frames[0].symbol, frames[1].symbol);
}

TEST(NameStacks, WhatIsNoCodeEndsAStack) {
  RawStacks stacks = of_this_process();
  stacks.samples = {{.thread = 1, .addresses = {here(), 0x40, here()}}, {.thread = 1, .addresses = {0x40}}};
  const StackProfile profile = named(stacks);
  EXPECT_THAT(profile.samples[0].frames, SizeIs(1));
  ASSERT_THAT(profile.samples[1].frames, SizeIs(1)) << "where it was is reported even where it is not known";
  EXPECT_EQ(profile.frames[profile.samples[1].frames[0]], StackFrame{});
}

TEST(NameStacks, GeneratedCodeHasItsName) {
  RawStacks stacks;
  stacks.process = 5;
  stacks.code = {{.begin = 0x1000, .end = 0x2000, .path = {}},
                 {.begin = 0x5000, .end = 0x6000, .inode = 9, .path = "/memfd:xbyak (deleted)"}};
  stacks.jit_map = "1000 20 jit_conv.1\n1100 20 jit_conv.2\n";
  stacks.samples = {
      {.thread = 5, .addresses = {0x1001}}, {.thread = 5, .addresses = {0x1101}}, {.thread = 5, .addresses = {0x5001}}};
  const StackProfile profile = named(stacks);
  EXPECT_THAT(profile.frames, ElementsAre(StackFrame{.symbol = "jit_conv", .module = "[jit]"},
                                          StackFrame{.symbol = "", .module = "[jit]"}));
  EXPECT_EQ(profile.samples[0].frames, profile.samples[1].frames);
}

TEST(NameStacks, AFileThatIsAnotherByNowIsNotRead) {
  RawStacks stacks = of_this_process();
  for (MappedCode& code : stacks.code) code.inode += 1;
  stacks.samples = {{.thread = 1, .addresses = {here()}}};
  const auto frames = frames_of(named(stacks));
  ASSERT_THAT(frames, SizeIs(1));
  EXPECT_EQ(frames[0].symbol, "");
  EXPECT_THAT(frames[0].module, HasSubstr("infermeter_stacks_test"));
}

TEST(NameStacks, ThreadsAreCounted) {
  RawStacks stacks;
  stacks.process = 5;
  stacks.threads = {{5, "worker"}, {6, "worker"}, {7, "OMP\n"}, {8, "worker"}};
  for (const std::uint32_t thread : {6U, 5U, 8U, 7U, 9U, 6U})
    stacks.samples.push_back({.thread = thread, .addresses = {1}});
  const StackProfile profile = named(stacks);
  EXPECT_THAT(profile.threads, ElementsAre("thread 1", "main", "thread 2", "OMP  1", "thread 3"));
  EXPECT_EQ(profile.samples.back().thread, 0U);
}

TEST(NameStacks, NamesOfFilesAreText) {
  RawStacks stacks;
  stacks.code = {{.begin = 0x1000, .end = 0x2000, .inode = 1, .path = "/a/b\x1b[2J\xff.so (deleted)"}};
  stacks.samples = {{.thread = 1, .addresses = {0x1001}}};
  EXPECT_EQ(named(stacks).frames.at(0).module, "b [2J\xef\xbf\xbd.so");
}

// Where this thread is, as the kernel would have reported it.
[[gnu::noinline]] void note_here(RawSample& sample) {
#if defined(__x86_64__)
  ucontext_t context;
  getcontext(&context);
  const auto& r = context.uc_mcontext.gregs;
  const int order[] = {REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_RIP};
  for (const int one : order) sample.registers.push_back(static_cast<std::uint64_t>(r[one]));
  sample.registers.insert(sample.registers.end(), 3, 0);  // flags, cs, ss
  for (const int one : {REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15})
    sample.registers.push_back(static_cast<std::uint64_t>(r[one]));
  sample.addresses = {static_cast<std::uint64_t>(r[REG_RIP])};
  // As far as there is one: above its first frame nothing may be mapped.
  sample.stack.resize(8192);
  const int memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
  const ssize_t read = pread(memory, sample.stack.data(), sample.stack.size(), static_cast<off_t>(r[REG_RSP]));
  close(memory);
  sample.stack.resize(static_cast<std::size_t>(std::max<ssize_t>(read, 0)));
#else
  static_cast<void>(sample);
#endif
}
[[gnu::noinline]] void the_caller(RawSample& sample) {
  note_here(sample);
  sample.thread = static_cast<std::uint32_t>(getpid());  // no tail call
}

TEST(Unwind, FindsTheCallers) {
  RawStacks stacks = of_this_process();
  stacks.samples.resize(1);
  the_caller(stacks.samples[0]);
  if (stacks.samples[0].registers.empty()) GTEST_SKIP() << "written for x86-64";
  ASSERT_EQ(stacks.samples[0].registers.size(), static_cast<std::size_t>(std::popcount(kSampledRegisters)));
  const auto frames = frames_of(named(stacks));
  std::vector<std::string> symbols;
  for (const StackFrame& frame : frames) symbols.push_back(frame.symbol);
  ASSERT_THAT(symbols, SizeIs(testing::Gt(5U)));
  EXPECT_THAT(symbols.back(), HasSubstr("note_here"));
  EXPECT_THAT(symbols[symbols.size() - 2], HasSubstr("the_caller"));
  EXPECT_THAT(symbols[symbols.size() - 3], HasSubstr("FindsTheCallers"));
}

TEST(Unwind, EndsWhereTheStackDoes) {
  RawStacks stacks = of_this_process();
  stacks.samples.resize(1);
  the_caller(stacks.samples[0]);
  if (stacks.samples[0].registers.empty()) GTEST_SKIP() << "written for x86-64";
  stacks.samples[0].stack.resize(16);
  EXPECT_THAT(frames_of(named(stacks)), SizeIs(testing::Le(2U)));
  stacks.samples[0].stack.clear();
  EXPECT_THAT(frames_of(named(stacks)), SizeIs(1));
  stacks.samples[0].registers.resize(3);
  EXPECT_THAT(frames_of(named(stacks)), SizeIs(1)) << "of registers that are not all there";
}

// A file: 16 bytes of something, the table with two functions, and their entries behind it.
class Table {
 public:
  Table() : bytes_(16 + 12 + 16 + 32) {
    put(16, std::uint32_t{0x3b031b01});
    put(24, std::uint32_t{2});
    function(0, 0x100, 28, 0x20);
    function(1, -0x100, 44, 0x10);
  }
  template <class T>
  void put(std::size_t place, T value) {
    std::memcpy(bytes_.data() + place, &value, sizeof value);
  }
  // Loaded to 0x1000, where the table is.
  void function(std::size_t index, std::int32_t begin, std::int32_t entry, std::uint32_t length) {
    put(28 + 8 * index, begin);
    put(32 + 8 * index, entry);
    put(16 + static_cast<std::size_t>(entry) + 8, begin - entry - 8);
    put(16 + static_cast<std::size_t>(entry) + 12, length);
  }
  [[nodiscard]] std::vector<FunctionRange> ranges(std::uint64_t size = 28) const {
    return function_ranges(bytes_, 16, size, 0x1000);
  }

 private:
  std::vector<std::byte> bytes_;
};

TEST(FunctionRanges, AreSorted) {
  EXPECT_THAT(Table().ranges(),
              ElementsAre(FunctionRange{.begin = 0xf00, .end = 0xf10}, FunctionRange{.begin = 0x1100, .end = 0x1120}));
}

TEST(FunctionRanges, HaveNoEndWhereTheEntryIsOfAnotherForm) {
  Table table;
  table.put(16 + 28 + 8, std::int32_t{4711});
  EXPECT_EQ(table.ranges().at(1), (FunctionRange{.begin = 0x1100, .end = 0x1100}));
  table.put(32, std::int32_t{1 << 30});
  EXPECT_EQ(table.ranges().at(1), (FunctionRange{.begin = 0x1100, .end = 0x1100})) << "beyond the file";
}

TEST(FunctionRanges, AreNoneOfWhatIsDamaged) {
  EXPECT_THAT(Table().ranges(27), IsEmpty());
  EXPECT_THAT(Table().ranges(3), IsEmpty());
  EXPECT_THAT(Table().ranges(4711), IsEmpty());
  Table many;
  many.put(24, ~std::uint32_t{0});
  EXPECT_THAT(many.ranges(), IsEmpty());
  Table other;
  other.put(16, std::uint32_t{0x3b031b02});
  EXPECT_THAT(other.ranges(), IsEmpty());
}

TEST(ReadableSymbol, IsDemangledWithinBounds) {
  EXPECT_EQ(readable_symbol("_ZN2ns1fEi"), "ns::f(int)");
  EXPECT_EQ(readable_symbol("memcpy"), "memcpy");
  EXPECT_EQ(readable_symbol("_Znonsense"), "_Znonsense");
  EXPECT_EQ(readable_symbol("a\x1b[31m"), "a [31m");
  EXPECT_EQ(readable_symbol("_Z" + std::string(5000, 'x')).size(), 4096U);
  std::string doubled = "_Z1f1AIiiES_IS0_S0_E";
  EXPECT_EQ(readable_symbol(doubled), "f(A<int, int>, A<A<int, int>, A<int, int> >)");
  for (const char* const last : {"1", "2", "3", "4", "5", "6", "7", "8", "9", "A", "B"})
    doubled += fmt::format("S_IS{0}_S{0}_E", last);
  EXPECT_EQ(readable_symbol(doubled), doubled);  // 30 MB otherwise
}

}  // namespace
}  // namespace infermeter::name_stacks_test
