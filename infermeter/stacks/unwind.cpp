#include "infermeter/stacks/unwind.hpp"

#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cstring>
#include <optional>

#include "infermeter/stacks/local_debug_files.hpp"

namespace infermeter {
namespace {

#if defined(__x86_64__)
// The kernel's numbers (asm/perf_regs.h) in the order of DWARF's (System V ABI, AMD64 supplement, figure 3.36):
// rax rdx rcx rbx rsi rdi rbp rsp r8 … r15 rip.
constexpr std::array<int, 17> dwarf_order = {0, 3, 2, 1, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23, 8};
constexpr int stack_pointer = 7;
#elif defined(__aarch64__)
constexpr std::array<int, 32> dwarf_order = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                             16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};
constexpr int stack_pointer = 31;
#else
constexpr std::array<int, 0> dwarf_order = {};
constexpr int stack_pointer = 0;
#endif

// What a sample holds of a register, by the kernel's number.
std::optional<std::uint64_t> kernel_register(const RawSample& sample, int number) {
  if ((kSampledRegisters >> number & 1U) == 0) return std::nullopt;
  const auto place = static_cast<std::size_t>(std::popcount(kSampledRegisters & ((std::uint64_t{1} << number) - 1)));
  if (place >= sample.registers.size()) return std::nullopt;
  return sample.registers[place];
}

}  // namespace

struct UnwindCallbacks {
  static pid_t next_thread(Dwfl*, void* user, void** thread) {
    if (*thread != nullptr) return 0;
    *thread = user;
    return static_cast<pid_t>(static_cast<Unwinder*>(user)->process_);
  }

  static bool get_thread(Dwfl*, pid_t, void* user, void** thread) {
    *thread = user;
    return true;
  }

  static bool memory_read(Dwfl*, Dwarf_Addr address, Dwarf_Word* result, void* user) {
    const RawSample& sample = *static_cast<Unwinder*>(user)->sample_;
    const auto begin = kernel_register(sample, stack_pointer);
    if (!begin || address < *begin) return false;
    const std::uint64_t offset = address - *begin;
    if (offset > sample.stack.size() || sample.stack.size() - offset < sizeof *result) return false;
    std::memcpy(result, sample.stack.data() + offset, sizeof *result);
    return true;
  }

  static bool set_registers(Dwfl_Thread* thread, void* user) {
    const RawSample& sample = *static_cast<Unwinder*>(user)->sample_;
    std::array<Dwarf_Word, dwarf_order.size()> registers{};
    for (std::size_t i = 0; i < registers.size(); ++i) {
      const auto value = kernel_register(sample, dwarf_order[i]);
      if (!value) return false;
      registers[i] = *value;
    }
#if defined(__aarch64__)
    dwfl_thread_state_register_pc(thread, sample.addresses.front());
#endif
    return dwfl_thread_state_registers(thread, 0, registers.size(), registers.data());
  }

  static constexpr Dwfl_Thread_Callbacks all{.next_thread = next_thread,
                                             .get_thread = get_thread,
                                             .memory_read = memory_read,
                                             .set_initial_registers = set_registers,
                                             .detach = nullptr,
                                             .thread_detach = nullptr};

  static int note_frame(Dwfl_Frame* frame, void* user) {
    auto& addresses = *static_cast<std::vector<std::uint64_t>*>(user);
    Dwarf_Addr address = 0;
    if (!dwfl_frame_pc(frame, &address, nullptr) || address == 0) return DWARF_CB_ABORT;
    addresses.push_back(address);
    return addresses.size() < Unwinder::deepest ? DWARF_CB_OK : DWARF_CB_ABORT;
  }
};

Unwinder::Unwinder(std::uint32_t process, std::span<const PlacedModule> modules) : process_(process) {
  dwfl_ = dwfl_begin(&local_debug_files());
  if (dwfl_ == nullptr) return;
  dwfl_report_begin(dwfl_);
  for (const PlacedModule& module : modules) {
    const int consumed = fcntl(module.descriptor, F_DUPFD_CLOEXEC, 0);
    if (consumed < 0) continue;
    if (dwfl_report_elf(dwfl_, module.path.c_str(), module.path.c_str(), consumed, module.bias, true) == nullptr)
      close(consumed);
  }
  dwfl_report_end(dwfl_, nullptr, nullptr);
  if (dwfl_attach_state(dwfl_, nullptr, static_cast<pid_t>(process), &UnwindCallbacks::all, this)) return;
  dwfl_end(dwfl_);
  dwfl_ = nullptr;
}

Unwinder::~Unwinder() {
  if (dwfl_ != nullptr) dwfl_end(dwfl_);
}

std::vector<std::uint64_t> Unwinder::addresses(const RawSample& sample) {
  if (dwfl_ == nullptr || sample.registers.empty() || dwarf_order.empty()) return sample.addresses;
  sample_ = &sample;
  std::vector<std::uint64_t> found;
  // Where it ends, and why, is all the same: what was found until then stands.
  dwfl_getthread_frames(dwfl_, static_cast<pid_t>(process_), UnwindCallbacks::note_frame, &found);
  sample_ = nullptr;
  return found.empty() ? sample.addresses : found;
}

}  // namespace infermeter
