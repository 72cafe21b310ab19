// The head of a report: which run, on which machine.
#pragma once

#include <string>

#include "infermeter/verdict/judge.hpp"
#include "infermeter/verdict/run_record.hpp"

namespace infermeter {

// "infermeter 20261121-114200-3f9a: 4 subjects, 3 processes each, 100 iterations after 10 of warm-up, seed 1"
[[nodiscard]] std::string run_line(const RunRecord& record);
// "NVIDIA H100 (cuda), AMD EPYC, 2 of 2 processors, 8.36 GB memory, Debian GNU/Linux 12 (bookworm), kernel 6.1.0"; what
// is known of it.
[[nodiscard]] std::string machine_line(const RunRecord& record);

}  // namespace infermeter
