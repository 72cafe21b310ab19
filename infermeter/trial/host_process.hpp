// The name of this process, for trials that run within a program (Samples::host_process).
#pragma once

#include <string>

namespace infermeter {

// Another process, a later one with the same number and a forked child have other names.
[[nodiscard]] std::string host_process_name();

}  // namespace infermeter
