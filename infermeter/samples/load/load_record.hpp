// LoadRecord: what a trial under load leaves beside its Samples, whose begin_s and end_s are then arrival and
// completion of each request that succeeded, by arrival: their difference is the response time.
//
//   arrival     when a request should start, by its schedule; in a closed loop: when its client was free
//   issue       when it did start
//   completion  when its answer was there
//   lag         issue - arrival; late: the part of it in which a client was free and the generator slept too long
//   service     completion - issue
//   response    completion - arrival
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "infermeter/samples/load/log_histogram.hpp"

namespace infermeter {

struct LoadBin {
  std::uint64_t arrived = 0, completed = 0, failed = 0;
  std::uint64_t in_flight = 0;  // arrived and not ended when the bin ends: those that wait, too
  double slowest_s = 0;         // longest response time of what completed here

  [[nodiscard]] bool operator==(const LoadBin&) const = default;
};

inline constexpr std::size_t kMostErrorTexts = 8;
// Classes of failed requests: no connection; the connection ended first; no answer in time; the server's status; an
// answer that cannot be used; all else, and what is no server.
inline constexpr std::string_view kErrorKinds[] = {"refused", "reset", "timeout", "4xx", "5xx", "bad answer", "other"};

// One rate that was tried while the highest was sought.
struct LoadStepRecord {
  double rate = 0;  // requests per second
  std::uint64_t requests = 0;
  double response_s = 0;  // the percentile of the objective
  bool met = false;

  [[nodiscard]] bool operator==(const LoadStepRecord&) const = default;
};
inline constexpr std::size_t kMostLoadSteps = 200;

struct LoadRecord {
  bool open_loop = false;
  int clients = 1;           // most requests in flight
  std::int64_t samples = 1;  // inferences to a request
  std::uint64_t due = 0;     // requests whose arrival came
  std::uint64_t issued = 0;  // of them
  std::uint64_t completed = 0, failed = 0;
  std::optional<std::uint64_t> good{};  // of the completed ones, those within all bounds; nullopt: there are none
  std::uint64_t kept = 0;  // of the completed ones with times of their own; the histograms are of all of them
  double arrivals_s = 0;   // from the beginning to the end of arrivals (open loop: what the schedule covers)
  double duration_s = 0;   // from the beginning to the last completion
  bool gave_up = false;    // requests were still waiting long after the last arrival
  HistogramRecord response{}, service{}, lag{}, late{};
  double bin_s = 0;  // width of a bin
  std::vector<LoadBin> timeline{};
  // Last answers of clients that were compared with an inference that was run alone, and the largest difference of an
  // element, as a share of the largest value of its output. `mismatched`: another shape or type, or no number.
  std::uint64_t checked = 0, mismatched = 0;
  double largest_difference = 0;
  // Where the highest rate was sought: all else is of the last part, in which requests came at that rate.
  double max_rate = 0;  // requests per second; 0: not sought, or no rate met the objective
  std::vector<LoadStepRecord> steps{};
  // Sentences and how often each; at most kMostErrorTexts and "other errors".
  std::vector<std::pair<std::string, std::uint64_t>> errors{};
  // How many of the failed ones are of which of kErrorKinds, in their order; none is 0.
  std::vector<std::pair<std::string, std::uint64_t>> error_kinds{};

  [[nodiscard]] bool operator==(const LoadRecord&) const = default;
};

}  // namespace infermeter
