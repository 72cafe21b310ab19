#include "infermeter/profile/write/trace_numbers.hpp"

#include <fmt/format.h>

#include "infermeter/profile/write/trace_tracks.hpp"

namespace infermeter {
namespace {

constexpr std::int64_t kNumbersPerProcess = 10'000;
static_assert(kMostTraceThreads * kMostTracksOfThread < kNumbersPerProcess);

}  // namespace

std::string trace_process_name(const TraceProcess& process) {
  return fmt::format("{}, {} {}", process.subject, process.is_measured ? "measured process" : "process",
                     process.number + 1);
}

std::int64_t trace_process_number(std::size_t index) {
  return kNumbersPerProcess * (static_cast<std::int64_t>(index) + 1);
}

std::int64_t trace_thread_number(std::int64_t process, const TraceTrack& track) { return process + track.number; }

}  // namespace infermeter
