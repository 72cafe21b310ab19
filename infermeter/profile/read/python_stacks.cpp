#include "infermeter/profile/read/python_stacks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "infermeter/profile/read/stack_readers.hpp"
#include "infermeter/profile/stacks/stack_table.hpp"

namespace infermeter {
namespace {

struct Profiler {
  std::string_view file, method, unit, detail;
};
constexpr auto known = std::to_array<Profiler>({
    {"py_spy.txt", "py_spy", "samples",
     "py-spy, 100 times a second from outside, without slowing Python down: threads that wait are not seen"},
    {"cprofile.txt", "cprofile", "s",
     "cProfile, which makes Python that calls much about three times as slow: it sees the thread of the inference "
     "only, and divides what a function with several callers did among them by the time of their calls"},
    {"pyinstrument.txt", "pyinstrument", "s",
     "pyinstrument, every millisecond, which makes Python that calls much about three times as slow: it sees the "
     "thread of the inference only"},
});

// The last frame of ours around a model, in the stacks of who looks from outside (python/infermeter/worker.py).
constexpr std::string_view own_end = "main (infermeter/worker.py";
constexpr std::size_t most_of_ours = 8;

// py-spy's first frame is "thread (4711): MainThread"; its number means nothing in another process.
std::string thread_of_frame(std::string_view frame) {
  const std::size_t colon = frame.find("): ");
  return colon == std::string_view::npos ? "thread" : std::string(frame.substr(colon + 3));
}

// The others look at one thread, and do not name it.
Result<Done> name_threads(StackProfile& profile) {
  StackTable threads;
  for (StackSample& sample : profile.samples) {
    std::string name = "MainThread";
    if (const std::string& first = profile.frames[sample.frames.front()].symbol; first.starts_with("thread (")) {
      name = thread_of_frame(first);
      sample.frames.erase(sample.frames.begin());
    }
    INFERMETER_TRY(sample.thread, threads.thread(name));
  }
  profile.threads = threads.take().threads;
  return Done{};
}

void leave_out_own_frames(StackProfile& profile) {
  std::vector<bool> is_end;
  for (const StackFrame& frame : profile.frames) is_end.push_back(frame.symbol.starts_with(own_end));
  for (StackSample& sample : profile.samples) {
    const auto first = sample.frames.begin(), last = first + std::min(sample.frames.size(), most_of_ours);
    const auto end = std::find_if(first, last, [&](std::uint32_t frame) { return is_end[frame]; });
    if (end != last) sample.frames.erase(first, end + 1);
  }
  std::erase_if(profile.samples, [](const StackSample& sample) { return sample.frames.empty(); });  // our own loop
}

}  // namespace

Result<std::optional<TrialStacks>> read_python_stacks(std::span<const ProfileFile> files) {
  for (const Profiler& profiler : known) {
    const auto file = std::ranges::find(files, profiler.file, &ProfileFile::name);
    if (file == files.end()) continue;
    INFERMETER_TRY(StackProfile stacks, parse_collapsed_stacks(file->bytes));
    INFERMETER_TRY_DONE(name_threads(stacks));
    leave_out_own_frames(stacks);
    stacks.unit = profiler.unit;
    if (stacks.samples.empty()) return io_error(fmt::format("{} saw no Python code of the model", profiler.method));
    return std::optional(TrialStacks{.method = std::string(profiler.method),
                                     .detail = std::string(profiler.detail),
                                     .is_python = true,
                                     .stacks = std::move(stacks)});
  }
  return std::optional<TrialStacks>();
}

}  // namespace infermeter
