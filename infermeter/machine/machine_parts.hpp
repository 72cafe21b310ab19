// The parts that read_environment is made of.
#pragma once

#include "infermeter/machine/system_folder.hpp"
#include "infermeter/samples/environment.hpp"

namespace infermeter {

void read_processor(Environment& environment, const SystemFolder& system);  // name, flags, counts, caches, governor, …
void read_memory(Environment& environment, const SystemFolder& system);
void read_system(Environment& environment, const SystemFolder& system);  // kernel, distribution, virtualisation, load
void probe_kernel(Environment& environment);  // what only this process can try: affinity, counters, Landlock, seccomp

}  // namespace infermeter
