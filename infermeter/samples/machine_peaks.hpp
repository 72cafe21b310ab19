// MachinePeaks: what this machine's processor and memory did at best, measured in the session.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace infermeter {

struct ComputePeak {
  std::string dtype;         // "float32", "bfloat16", "int8"
  double ops_per_s = 0;      // multiply and add are two
  double low = 0, high = 0;  // of the repeats
  std::string instructions;  // "AVX-512 FMA", "AVX-512 BF16", "AVX-512 VNNI"
};
struct BandwidthPeak {
  std::string level;  // "L1", "L2", "L3", "DRAM", "DRAM triad"
  double bytes_per_s = 0;
  double low = 0, high = 0;
  std::uint64_t holds_bytes = 0;  // all caches of this level that the threads reach; of DRAM 0
};
struct MachinePeaks {
  int threads = 0;
  std::vector<ComputePeak> compute;
  std::vector<BandwidthPeak> bandwidth;
  double seconds = 0;                // that measuring took
  std::vector<std::string> missing;  // sentences: "bfloat16: this processor has no AVX-512 BF16"
};

}  // namespace infermeter
