#include "infermeter/worker/profile/stack_sampler.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "infermeter/trial/signal_sampler.hpp"
#include "infermeter/worker/profile/process_code.hpp"

namespace infermeter {
namespace {

constexpr std::size_t most_later_mappings = 4096;  // of a worker that may map anything

PerfSampleForm form_for(StackSampling how) {
  return how == StackSampling::dwarf && kSampledRegisters != 0 ? PerfSampleForm::stack : PerfSampleForm::call_chain;
}

std::string detail_of(PerfSampleForm form) {
  return fmt::format("perf_event_open, cpu-clock at {} Hz, {}", PerfSampler::frequency_hz,
                     form == PerfSampleForm::stack
                         ? fmt::format("{} kB of stack each, unwound afterwards", PerfSampler::stack_bytes / 1024)
                         : std::string("frame pointers"));
}

}  // namespace

StackSampler::StackSampler(pid_t process, StackSampling how, const SampleBlock& block,
                           std::span<const std::byte> signal_area)
    : process_(process), block_(block), signal_area_(signal_area), form_(form_for(how)), jit_map_(process) {
  auto opened = PerfSampler::open(process, form_);
  if (opened.ok())
    perf_.emplace(std::move(opened).value());
  else
    refusal_ = opened.error().message;
}

void StackSampler::begin() {
  if (perf_) perf_->enable();
  look_at_process();
}

void StackSampler::drain() {
  if (perf_) perf_->drain([this] { return block_.phase() >= Phase::timed; });
}

void StackSampler::end() {
  if (perf_) perf_->disable();
  look_at_process();
}

// It may have ended already: then what was seen before stays.
void StackSampler::look_at_process() {
  stacks_.code = merged_code(stacks_.code, read_maps(process_));
  for (auto& [thread, name] : read_thread_names(process_)) stacks_.threads.insert_or_assign(thread, std::move(name));
}

RawStacks StackSampler::take() {
  stacks_.process = static_cast<std::uint32_t>(process_);
  stacks_.origin_ns = static_cast<std::int64_t>(block_.start().monotonic_ns);
  stacks_.jit_map = jit_map_.read();
  stacks_.reason = refusal_;
  if (!perf_) {
    stacks_.method = "sigprof";
    stacks_.detail = "SIGPROF within the worker at the kernel's tick, the instruction alone";
    stacks_.samples = read_signal_samples(signal_area_);
    return std::move(stacks_);
  }
  stacks_.method = form_ == PerfSampleForm::stack ? "perf_event_dwarf" : "perf_event";
  stacks_.detail = detail_of(form_);
  drain();
  RawStacks recorded{.method = {},
                     .detail = {},
                     .reason = {},
                     .process = stacks_.process,
                     .samples = {},
                     .code = {},
                     .threads = {},
                     .jit_map = {}};
  perf_->read_into(recorded);
  stacks_.samples = std::move(recorded.samples);
  stacks_.lost = recorded.lost;
  stacks_.cut = recorded.cut;
  recorded.code.resize(std::min(recorded.code.size(), most_later_mappings));
  for (const MappedCode& mapped : recorded.code) stacks_.code = merged_code(stacks_.code, {&mapped, 1});
  return std::move(stacks_);
}

std::vector<MappedCode> merged_code(std::span<const MappedCode> earlier, std::span<const MappedCode> later) {
  std::vector<MappedCode> merged(later.begin(), later.end());
  for (const MappedCode& code : earlier) {
    const bool overlaps = std::ranges::any_of(
        later, [&](const MappedCode& other) { return code.begin < other.end && other.begin < code.end; });
    if (!overlaps) merged.push_back(code);
  }
  std::ranges::sort(merged, {}, &MappedCode::begin);
  return merged;
}

}  // namespace infermeter
