#include "infermeter/trial/load/request_tally.hpp"

#include <algorithm>

#include "infermeter/samples/load/check_load_record.hpp"
#include "infermeter/text/quoted.hpp"

namespace infermeter {
namespace {

constexpr std::string_view kOtherErrors = "other errors";

HistogramRecord record_of(const LogHistogram& histogram, double tick_s) {
  return {.tick_s = tick_s, .counts = histogram.counts()};
}

std::uint64_t ticks_between(std::uint64_t later, std::uint64_t earlier) {
  return later > earlier ? later - earlier : 0;
}

}  // namespace

bool RequestTally::is_good(const RequestTimes& times, const AnswerParts* parts) const {
  const auto keeps = [this](const std::optional<double>& bound_s, std::uint64_t ticks) {
    return !bound_s || static_cast<double>(ticks) * tick_s_ <= *bound_s;
  };
  if (!keeps(goodput_->response_s, ticks_between(times.end, times.arrival))) return false;
  if (!goodput_->needs_parts()) return true;
  if (parts == nullptr || parts->moments.empty()) return false;
  const GenerationTimes generation = generation_times(times.arrival, times.end, *parts);
  // An answer of one token has no time per token that it could miss.
  return keeps(goodput_->ttft_s, *generation.ttft) && keeps(goodput_->tpot_s, generation.tpot.value_or(0));
}

void RequestTally::completed(const RequestTimes& times, const AnswerParts* parts) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t response = ticks_between(times.end, times.arrival);
  response_.add(response);
  service_.add(ticks_between(times.end, times.issue));
  lag_.add(ticks_between(times.issue, times.arrival));
  late_.add(ticks_between(times.issue, std::max(times.arrival, times.free)));
  if (parts != nullptr) generation_.add(times.arrival, times.end, *parts);
  if (goodput_ && is_good(times, parts)) ++good_;
  if (arrive_here_) timeline_.arrived(since_begin(times.arrival));
  timeline_.completed(since_begin(times.end), response);
  last_end_ = std::max(last_end_, times.end);
}

void RequestTally::failed(const RequestTimes& times, const RequestError& error) {
  const std::lock_guard lock(mutex_);
  ++failed_;
  if (arrive_here_) timeline_.arrived(since_begin(times.arrival));
  timeline_.failed(since_begin(times.end));
  last_end_ = std::max(last_end_, times.end);
  // At most four bytes are written for one of theirs.
  count_error(printable(error.why, kMostErrorBytes / 4), 1);
  const auto* const kind = std::ranges::find(kErrorKinds, error.kind);
  ++of_kind_.at(static_cast<std::size_t>(kind - std::begin(kErrorKinds)));
}

// What a server says is text from outside: its own words count apart up to a bound.
void RequestTally::count_error(std::string why, std::uint64_t times) {
  auto found = std::ranges::find(errors_, why, &std::pair<std::string, std::uint64_t>::first);
  if (found == errors_.end() && errors_.size() >= kMostErrorTexts) {
    why = kOtherErrors;
    found = std::ranges::find(errors_, why, &std::pair<std::string, std::uint64_t>::first);
  }
  if (found == errors_.end()) found = errors_.insert(errors_.end(), {std::move(why), 0});
  found->second += times;
}

void RequestTally::merge(const RequestTally& other) {
  response_.merge(other.response_);
  service_.merge(other.service_);
  lag_.merge(other.lag_);
  late_.merge(other.late_);
  timeline_.merge(other.timeline_);
  generation_.merge(other.generation_);
  failed_ += other.failed_;
  good_ += other.good_;
  last_end_ = std::max(last_end_, other.last_end_);
  for (const auto& [why, times] : other.errors_) count_error(why, times);
  for (std::size_t i = 0; i < of_kind_.size(); ++i) of_kind_[i] += other.of_kind_[i];
}

void RequestTally::fill(LoadRecord& record, const Timeline& arrivals) const {
  record.completed = response_.count();
  record.failed = failed_;
  if (goodput_) record.good = good_;
  record.issued = record.completed + record.failed;
  record.response = record_of(response_, tick_s_);
  record.service = record_of(service_, tick_s_);
  record.lag = record_of(lag_, tick_s_);
  record.late = record_of(late_, tick_s_);
  record.duration_s = static_cast<double>(since_begin(last_end_)) * tick_s_;
  record.errors = errors_;
  for (std::size_t i = 0; i < of_kind_.size(); ++i)
    if (of_kind_[i] > 0) record.error_kinds.emplace_back(kErrorKinds[i], of_kind_[i]);
  Timeline all = arrivals;
  all.merge(timeline_);
  record.bin_s = static_cast<double>(all.width()) * tick_s_;
  std::uint64_t in_flight = 0;
  for (const TimelineBin& bin : all.bins()) {
    in_flight += bin.arrived;
    in_flight -= std::min(in_flight, bin.completed + bin.failed);
    record.timeline.push_back(
        {bin.arrived, bin.completed, bin.failed, in_flight, static_cast<double>(bin.slowest_ticks) * tick_s_});
  }
}

}  // namespace infermeter
