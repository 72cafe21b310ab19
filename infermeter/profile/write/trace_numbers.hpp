// How files call the processes and threads of a trace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "infermeter/profile/write/trace_file.hpp"

namespace infermeter {

// "resnet50@onnxruntime, process 1", "…, measured process 1": numbers from 1, as people count.
[[nodiscard]] std::string trace_process_name(const TraceProcess& process);

// Viewers take a thread of its process's number for the main one, 0 for the idle one, and want numbers that no other
// process's threads have.
[[nodiscard]] std::int64_t trace_process_number(std::size_t index);
[[nodiscard]] std::int64_t trace_thread_number(std::int64_t process, const TraceTrack& track);

}  // namespace infermeter
