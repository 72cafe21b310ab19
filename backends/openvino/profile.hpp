// The profile of a session's operators, from OpenVINO's counters. They hold the last run's begin of each operator and
// means since the model was compiled: read after each run, the begins tell how long each operator of that run took.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "library.hpp"
#include "part.hpp"
#include "sdk/operators_file.hpp"

namespace infermeter {

class Profile {
 public:
  Profile(const Library& library, std::string folder);

  // From here on runs are recorded. `request`: any of this model, for they share counters; nullptr: there is none.
  void begin(const ov_infer_request_t* request);
  // Right after a run, within the timed region: one reading of a clock.
  void mark_end() noexcept;
  // After it, outside of the timed region. Calling it twice after one run is the same as once.
  void note(const ov_infer_request_t* request);
  // Writes operators.json. Throws Failure.
  void end(const ov_infer_request_t* request, const ov_compiled_model_t* compiled);

 private:
  void read(const ov_infer_request_t* request);
  [[nodiscard]] std::vector<Counter> counters_of(const ov_infer_request_t* request) const;
  [[nodiscard]] std::vector<GraphNode> graph_of(const ov_compiled_model_t* compiled);
  [[nodiscard]] std::vector<std::int64_t> last_durations_us() const;
  void add_events(OperatorsFile& file, const std::vector<std::uint32_t>& op_of_row) const;
  void add_means(OperatorsFile& file, const std::vector<std::uint32_t>& op_of_row) const;
  [[nodiscard]] std::vector<bool> rows_that_ran() const;
  [[nodiscard]] std::string source() const;

  // What ran in one run, by its begin.
  struct Run {
    std::vector<std::uint32_t> row;
    std::vector<std::int64_t> begin_us;
    std::int64_t last_us = 0;  // from the begin of the last of them to the end of the run
  };

  const Library& library_;
  std::string folder_;
  std::string why_no_part_;
  std::string failure_;
  std::string why_no_graph_;
  const Part* part_ = nullptr;
  bool is_recording_ = false, has_begins_ = false, is_cut_ = false;
  std::vector<Counter> rows_;  // as last read
  std::vector<Run> runs_;
  std::size_t events_ = 0;
  std::chrono::system_clock::time_point end_;  // of the last run
};

}  // namespace infermeter
