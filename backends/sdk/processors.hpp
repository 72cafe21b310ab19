// How many threads the process may use at once: what threads=0 means.
#pragma once

#include <sched.h>

#include <algorithm>

namespace infermeter {

inline int usable_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return std::max(1, CPU_COUNT(&set));
}

}  // namespace infermeter
