// RequestTally: what requests took, counted as they end, in memory that does not grow with the load.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "infermeter/plan/load/goodput.hpp"
#include "infermeter/samples/load/load_record.hpp"
#include "infermeter/samples/load/log_histogram.hpp"
#include "infermeter/samples/load/timeline.hpp"
#include "infermeter/trial/generation/generation_tally.hpp"

namespace infermeter {

// The four moments of a request that has ended, ticks. `free`: from when on a client could have issued it.
struct RequestTimes {
  std::uint64_t arrival = 0, free = 0, issue = 0, end = 0;
};

struct RequestError {
  std::string why;        // one sentence
  std::string_view kind;  // one of kErrorKinds
};

class RequestTally {
 public:
  // `arrive_here`: arrivals are known when their requests have ended, as in a closed loop.
  RequestTally(std::uint64_t begin_ticks, std::uint64_t bin_ticks, bool arrive_here,
               const std::optional<GoodputBounds>& goodput, double tick_s)
      : begin_(begin_ticks), arrive_here_(arrive_here), goodput_(goodput), tick_s_(tick_s), timeline_(bin_ticks) {}

  // Of any thread. `parts`: of an answer whose back end reports them; else nullptr.
  void completed(const RequestTimes& times, const AnswerParts* parts);
  void failed(const RequestTimes& times, const RequestError& error);
  void merge(const RequestTally& other);

  // Fills what a tally knows; `arrivals` has when requests were due where that was known before.
  void fill(LoadRecord& record, const Timeline& arrivals) const;
  [[nodiscard]] const GenerationTally& generation() const { return generation_; }

 private:
  [[nodiscard]] bool is_good(const RequestTimes& times, const AnswerParts* parts) const;
  void count_error(std::string why, std::uint64_t times);
  [[nodiscard]] std::uint64_t since_begin(std::uint64_t ticks) const { return ticks > begin_ ? ticks - begin_ : 0; }

  std::mutex mutex_;
  std::uint64_t begin_;
  bool arrive_here_;
  std::optional<GoodputBounds> goodput_;
  double tick_s_;
  LogHistogram response_, service_, lag_, late_;
  Timeline timeline_;
  GenerationTally generation_;
  std::uint64_t failed_ = 0, good_ = 0, last_end_ = 0;
  std::vector<std::pair<std::string, std::uint64_t>> errors_;
  std::array<std::uint64_t, std::size(kErrorKinds)> of_kind_{};
};

}  // namespace infermeter
