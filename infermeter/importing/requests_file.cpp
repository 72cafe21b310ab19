#include "infermeter/importing/requests_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <queue>
#include <utility>

#include "infermeter/importing/json_members.hpp"
#include "infermeter/profile/read/json_events.hpp"

namespace infermeter {
namespace {

using Json = nlohmann::json;

constexpr std::int64_t kLatestNs = 4'000'000'000'000'000'000;  // of 1970: in the year 2096
constexpr double kLongestMs = 1e9;
constexpr double kMostTokens = 1e12;

std::optional<std::int64_t> nanoseconds(const Json& value) {
  if (!value.is_number_integer() || value < 0 || value > kLatestNs) return std::nullopt;
  return value.get<std::int64_t>();
}

Error bad_clock() { return usage_error("it contains a time that is not a whole number of nanoseconds"); }

Result<TimedRequest> request_of_perf_analyzer(const Json& json, const Json& responses) {
  const auto begin = nanoseconds(member_of(json, "timestamp"));
  if (!begin) return bad_clock();
  TimedRequest request{.begin_ns = *begin, .end_ns = *begin};
  for (const Json& response : responses) {
    const auto moment = nanoseconds(response);
    if (!moment) return bad_clock();
    if (*moment < request.end_ns)
      return usage_error("it contains a response from before its request, or the one before");
    request.moments_ns.push_back(request.end_ns = *moment);
  }
  return request;
}

// AIPerf writes a number, its unit beside it; its times are in milliseconds.
std::optional<double> number_of(const Json& metrics, const char* name, std::string_view unit, double most) {
  const Json& metric = member_of(metrics, name);
  const Json& value = member_of(metric, "value");
  if (!value.is_number() || text_at(metric, "unit") != unit) return std::nullopt;
  const auto number = value.get<double>();
  return number >= 0 && number <= most ? std::optional(number) : std::nullopt;
}

std::optional<std::int64_t> duration_ns(const Json& metrics, const char* name) {
  const auto found_ms = number_of(metrics, name, "ms", kLongestMs);
  return found_ms ? std::optional<std::int64_t>(std::llround(*found_ms * 1e6)) : std::nullopt;
}

std::optional<std::uint64_t> tokens_of(const Json& metrics, const char* name) {
  const auto found = number_of(metrics, name, "tokens", kMostTokens);
  return found ? std::optional(static_cast<std::uint64_t>(*found)) : std::nullopt;
}

// The first piece, and from there on what lies between pieces.
std::vector<std::int64_t> moments_of(const Json& metrics, const TimedRequest& request) {
  const auto first = duration_ns(metrics, "time_to_first_token");
  if (!first) return {};
  std::vector moments = {request.begin_ns + *first};
  constexpr std::int64_t rounding_ns = 1'000'000;  // of sums of differences
  const std::int64_t latest = request.end_ns + rounding_ns;
  for (const Json& gap : member_of(member_of(metrics, "inter_chunk_latency"), "value")) {
    const double gap_ms = gap.is_number() ? gap.get<double>() : -1;
    if (!(gap_ms >= 0 && gap_ms <= kLongestMs)) return {moments.front()};
    const std::int64_t moment = moments.back() + std::llround(gap_ms * 1e6);
    // Of an answer that took longer than its request nothing but the beginning is believed.
    if (moment > latest) return {moments.front()};
    moments.push_back(moment);
  }
  return moments;
}

Result<TimedRequest> request_of_aiperf(const Json& record) {
  const Json &about = member_of(record, "metadata"), &metrics = member_of(record, "metrics");
  const auto begin = nanoseconds(member_of(about, "request_start_ns")),
             end = nanoseconds(member_of(about, "request_end_ns"));
  if (!begin || !end) return bad_clock();
  TimedRequest request{.begin_ns = *begin, .end_ns = std::max(*begin, *end)};
  request.failed = member_of(record, "error").is_object() || member_of(about, "was_cancelled") == true;
  if (request.failed) return request;
  // It ends with the last piece that has content, by a clock that does not jump.
  const auto latency = duration_ns(metrics, "request_latency");
  if (!latency) return usage_error("it contains a request without its latency in ms");
  request.end_ns = *begin + *latency;
  request.moments_ns = moments_of(metrics, request);
  request.output_tokens = tokens_of(metrics, "output_sequence_length");
  request.prompt_tokens = tokens_of(metrics, "input_sequence_length");
  return request;
}

}  // namespace

Result<std::vector<RequestSeries>> requests_of_perf_analyzer(const Json& json) {
  std::vector<RequestSeries> all;
  for (const Json& experiment : member_of(json, "experiments")) {
    RequestSeries series;
    bool in_pieces = false;
    for (const Json& each : member_of(experiment, "requests")) {
      const Json& responses = member_of(each, "response_timestamps");
      if (!responses.is_array() || responses.empty()) continue;
      INFERMETER_TRY(TimedRequest request, request_of_perf_analyzer(each, responses));
      in_pieces = in_pieces || request.moments_ns.size() > 1;
      series.requests.push_back(std::move(request));
    }
    // One response to each request is the whole answer, and no piece of it.
    if (!in_pieces) std::ranges::for_each(series.requests, [](TimedRequest& one) { one.moments_ns.clear(); });
    const Json& how = member_of(experiment, "experiment");
    if (!text_at(how, "mode").empty()) {
      // A list's text is as deep as the list.
      const Json& value = member_of(how, "value");
      series.name = text_at(how, "mode");
      if (value.is_primitive()) series.name += ' ' + value.dump(-1, ' ', false, Json::error_handler_t::replace);
    }
    all.push_back(std::move(series));
  }
  return all;
}

Result<std::vector<RequestSeries>> requests_of_aiperf(std::string_view bytes) {
  RequestSeries series;
  for (std::size_t line = 1, begin = 0; begin < bytes.size(); ++line) {
    const std::size_t end = std::min(bytes.find('\n', begin), bytes.size());
    const std::string_view text = bytes.substr(begin, end - begin);
    begin = end + 1;
    if (text.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    const Json record = Json::parse(text, nullptr, false);
    if (record.is_discarded()) return usage_error(fmt::format("line {} ends early, or is not JSON", line));
    if (text_at(member_of(record, "metadata"), "benchmark_phase") == "warmup") continue;
    auto request = request_of_aiperf(record);
    if (!request.ok()) return usage_error(fmt::format("line {}: {}", line, request.error().message));
    series.requests.push_back(std::move(*request));
  }
  return std::vector{std::move(series)};
}

void sort_by_begin(std::vector<TimedRequest>& requests) {
  std::ranges::stable_sort(requests, {}, &TimedRequest::begin_ns);
}

int most_in_flight(const std::vector<TimedRequest>& sorted) {
  std::priority_queue<std::int64_t, std::vector<std::int64_t>, std::greater<>> ends;
  std::size_t most = 0;
  for (const TimedRequest& request : sorted) {
    while (!ends.empty() && ends.top() <= request.begin_ns) ends.pop();
    ends.push(request.end_ns);
    most = std::max(most, ends.size());
  }
  return static_cast<int>(most);
}

}  // namespace infermeter
