// Profiles for the tests of traces and their files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "infermeter/samples/operator_profile.hpp"
#include "infermeter/samples/samples.hpp"

namespace infermeter::test {

inline Samples trace_samples(std::size_t iterations, double wall_s) {
  Samples samples;
  samples.purpose = Purpose::profile;
  for (std::size_t i = 0; i < iterations; ++i) {
    samples.begin_s.push_back(2.5 + static_cast<double>(i) * (wall_s + 0.001));
    samples.end_s.push_back(samples.begin_s.back() + wall_s);
  }
  return samples;
}

inline void add_trace_event(OperatorProfile& profile, std::uint32_t iteration, std::uint32_t op, std::uint32_t thread,
                            double begin_s, double duration_s) {
  profile.iteration.push_back(iteration);
  profile.op.push_back(op);
  profile.thread.push_back(thread);
  profile.begin_s.push_back(begin_s);
  profile.duration_s.push_back(duration_s);
}

inline ProfiledOperator trace_operator(std::string name, std::string kind) {
  ProfiledOperator op;
  op.name = std::move(name);
  op.kind = std::move(kind);
  return op;
}

// Two iterations of 10 ms: a convolution of 4 ms that a reorder of 1 ms lies in, and a product of 5 ms; 1 ms is the
// rest. Another thread works for 3 ms of each.
inline OperatorProfile trace_profile() {
  OperatorProfile profile;
  profile.operators = {trace_operator("conv1", "Conv"), trace_operator("reorder", "Reorder"),
                       trace_operator("fc", "Gemm")};
  profile.operators[0].kernel = "jit_avx512_f32";
  profile.operators[0].precision = "float32";
  profile.operators[0].layout = "NCHWc";
  profile.operators[0].shapes = "(1, 3, 224, 224) -> (1, 64, 112, 112)";
  profile.operators[0].nodes = {"conv1", "relu1"};
  profile.operators[0].rule = OriginRule::suffix;
  profile.operators[0].flops = 236e6;
  profile.operators[0].output_bytes = 3'211'264;
  profile.operators[0].parameter_bytes = 37'632;
  profile.operators[0].arena_peak_bytes = 5'000'000;
  profile.operators[2].arena_peak_bytes = 6'000'000;
  profile.operators[2].output_bytes = 4000;
  for (std::uint32_t i = 0; i < 2; ++i) {
    add_trace_event(profile, i, 0, 0, 0.0005, 0.004);
    add_trace_event(profile, i, 1, 0, 0.001, 0.001);
    add_trace_event(profile, i, 2, 0, 0.0045, 0.005);
    add_trace_event(profile, i, 0, 7, 0.001, 0.003);
  }
  return profile;
}

// Names as an enemy would choose them.
inline std::vector<std::string> hostile_texts() {
  return {"",
          "\"},{\"ph\":\"X",
          "back\\slash \\u0000",
          std::string("nul\0byte", 8),
          "two\nlines\r\n;42",
          "a;b;c 17",
          " 12",
          "\xff\xfe\xc0\xaf",
          "cut \xe2\x82",
          "\xed\xa0\x80",
          "\x1b[2J\x1b]0;owned\x07",
          "\xc2\x9b"
          "31m",
          "</script>",
          std::string(10'000, 'x'),
          std::string(999, 'y') + "€€€€",
          "模型 🚀"};
}

}  // namespace infermeter::test
