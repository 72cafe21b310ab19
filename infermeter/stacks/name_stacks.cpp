#include "infermeter/stacks/name_stacks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "infermeter/stacks/jit_names.hpp"
#include "infermeter/stacks/unwind.hpp"

namespace infermeter {
namespace {

constexpr std::size_t most_samples = 1'000'000, most_frames = 500'000;
constexpr std::size_t longest_name = 256;
constexpr std::string_view generated_code = "[jit]";
constexpr std::string_view deleted = " (deleted)";

bool is_file(const MappedCode& code) {
  return code.inode != 0 && code.path.starts_with('/') && !code.path.starts_with("/memfd:") &&
         !code.path.starts_with("/dev/zero");
}

std::string module_name(const MappedCode& code) {
  const bool is_kernels = code.path.starts_with('[') && !code.path.starts_with("[anon");  // [vdso]
  if (!is_kernels && !is_file(code)) return std::string(generated_code);
  std::string_view name = code.path;
  if (name.ends_with(deleted)) name.remove_suffix(deleted.size());
  if (is_file(code)) name.remove_prefix(name.rfind('/') + 1);
  return readable_symbol(name.substr(0, longest_name));
}

// By address; nothing overlaps.
class CodeMap {
 public:
  explicit CodeMap(const RawStacks& stacks) : code_(stacks.code) {
    std::ranges::stable_sort(code_, {}, &MappedCode::begin);
  }
  [[nodiscard]] const MappedCode* at(std::uint64_t address) const {
    const auto after = std::ranges::upper_bound(code_, address, {}, &MappedCode::begin);
    if (after == code_.begin() || address >= std::prev(after)->end) return nullptr;
    return &*std::prev(after);
  }
  [[nodiscard]] const std::vector<MappedCode>& all() const { return code_; }

 private:
  std::vector<MappedCode> code_;
};

// The kernel's numbers differ from process to process: threads are counted instead.
class ThreadTable {
 public:
  explicit ThreadTable(const RawStacks& stacks) : stacks_(stacks) {
    const auto main = stacks.threads.find(stacks.process);
    if (main != stacks.threads.end()) inherited_ = main->second;
  }

  std::uint32_t index_of(std::uint32_t thread, std::vector<std::string>& names) {
    const auto [place, is_new] = indices_.try_emplace(thread, static_cast<std::uint32_t>(names.size()));
    if (is_new) names.push_back(name_of(thread));
    return place->second;
  }

 private:
  std::string name_of(std::uint32_t thread) {
    if (thread == stacks_.process) return "main";
    const auto named = stacks_.threads.find(thread);
    std::string name = "thread";
    if (named != stacks_.threads.end() && named->second != inherited_) name = readable_symbol(named->second);
    return fmt::format("{} {}", name, ++counts_[name]);
  }

  const RawStacks& stacks_;
  std::string inherited_;  // of a thread that was given no name
  std::unordered_map<std::uint32_t, std::uint32_t> indices_;
  std::map<std::string, int> counts_;
};

class FrameTable {
 public:
  // nullopt: there are as many as are kept.
  std::optional<std::uint32_t> index_of(StackFrame frame, std::vector<StackFrame>& frames) {
    std::tuple key(frame.symbol, frame.module, frame.offset);
    const auto found = indices_.find(key);
    if (found != indices_.end()) return found->second;
    if (frames.size() >= most_frames) return std::nullopt;
    const auto index = static_cast<std::uint32_t>(frames.size());
    indices_.emplace(std::move(key), index);
    frames.push_back(std::move(frame));
    return index;
  }

 private:
  std::map<std::tuple<std::string, std::string, std::uint64_t>, std::uint32_t> indices_;
};

// Those whose files can be read, each once.
std::vector<PlacedModule> placed_modules(const CodeMap& code, ModuleCache& modules) {
  std::vector<PlacedModule> placed;
  for (const MappedCode& mapped : code.all()) {
    const auto same = [&](const PlacedModule& one) { return one.path == mapped.path; };
    const ModuleSymbols* const symbols = is_file(mapped) ? modules.symbols_of(mapped) : nullptr;
    const auto own = symbols == nullptr ? std::nullopt : symbols->address_of(mapped.file_offset);
    if (own && std::ranges::none_of(placed, same))
      placed.push_back({.path = mapped.path, .descriptor = symbols->descriptor(), .bias = mapped.begin - *own});
  }
  return placed;
}

// Of one process.
class Naming {
 public:
  Naming(const RawStacks& stacks, ModuleCache& modules)
      : stacks_(stacks), modules_(modules), code_(stacks), generated_(stacks.jit_map), threads_(stacks) {
    profile_.unit = "samples";
    profile_.cut = stacks.cut || stacks.samples.size() > most_samples;
    const auto is_unwound = [](const RawSample& sample) { return !sample.registers.empty(); };
    if (std::ranges::any_of(stacks.samples, is_unwound))
      unwinder_.emplace(stacks.process, placed_modules(code_, modules));
  }

  StackProfile operator()() && {
    const std::size_t count = std::min(stacks_.samples.size(), most_samples);
    for (std::size_t i = 0; i < count; ++i) profile_.samples.push_back(named(stacks_.samples[i]));
    return std::move(profile_);
  }

 private:
  StackSample named(const RawSample& raw) {
    StackSample sample{.t_s = static_cast<double>(raw.monotonic_ns - stacks_.origin_ns) * 1e-9,
                       .thread = threads_.index_of(raw.thread, profile_.threads),
                       .frames = {},
                       .weight = 1};
    if (unwinder_)
      add_frames(unwinder_->addresses(raw), sample.frames);
    else
      add_frames(raw.addresses, sample.frames);
    std::ranges::reverse(sample.frames);
    return sample;
  }

  // A caller goes on behind its call, which may be the next function's begin: it is looked up one byte before.
  void add_frames(const std::vector<std::uint64_t>& addresses, std::vector<std::uint32_t>& frames) {
    for (std::size_t i = 0; i < addresses.size(); ++i) {
      const std::uint64_t address = i == 0 ? addresses[i] : addresses[i] - 1;
      const MappedCode* const mapped = code_.at(address);
      if (i > 0 && mapped == nullptr) return;
      const auto [place, is_new] = known_.try_emplace(address);
      if (is_new) place->second = table_.index_of(frame_at(address, mapped), profile_.frames);
      profile_.cut = profile_.cut || !place->second;
      if (!place->second) return;
      frames.push_back(*place->second);
    }
  }

  StackFrame frame_at(std::uint64_t address, const MappedCode* mapped) {
    StackFrame frame{.symbol = generated_.name_at(address), .module = {}};
    if (mapped != nullptr) frame.module = module_name(*mapped);
    if (mapped == nullptr && !frame.symbol.empty()) frame.module = generated_code;
    if (frame.symbol.empty() && mapped != nullptr && is_file(*mapped)) name_by_file(address, *mapped, frame);
    return frame;
  }

  void name_by_file(std::uint64_t address, const MappedCode& mapped, StackFrame& frame) {
    const ModuleSymbols* const symbols = modules_.symbols_of(mapped);
    const auto own =
        symbols == nullptr ? std::nullopt : symbols->address_of(address - mapped.begin + mapped.file_offset);
    if (!own) return;
    const auto function = symbols->function_at(*own);
    if (function) frame.symbol = function->name;
    if (frame.symbol.empty()) frame.offset = function ? function->begin : *own;
  }

  const RawStacks& stacks_;
  ModuleCache& modules_;
  CodeMap code_;
  JitNames generated_;
  ThreadTable threads_;
  FrameTable table_;
  std::unordered_map<std::uint64_t, std::optional<std::uint32_t>> known_;  // address -> frame
  std::optional<Unwinder> unwinder_;
  StackProfile profile_;
};

}  // namespace

const ModuleSymbols* ModuleCache::symbols_of(const MappedCode& code) {
  const auto [place, is_new] = modules_.try_emplace(Key(code.path, code.device_major, code.device_minor, code.inode));
  if (is_new) place->second = ModuleSymbols::read(code);
  return place->second.get();
}

StackProfile name_stacks(const RawStacks& stacks, ModuleCache& modules) { return Naming(stacks, modules)(); }

}  // namespace infermeter
