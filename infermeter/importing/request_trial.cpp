#include "infermeter/importing/request_trial.hpp"

#include <algorithm>
#include <utility>

#include "infermeter/samples/generation/generation_counters.hpp"
#include "infermeter/samples/load/load_counters.hpp"
#include "infermeter/trial/load/request_tally.hpp"

namespace infermeter {
namespace {

constexpr double kTickS = 1e-9;
constexpr std::uint64_t kBinTicks = 10'000'000;  // the narrowest: the timeline widens them as it needs

class RequestTrial {
 public:
  RequestTrial(Samples& trial, const std::vector<TimedRequest>& requests, int clients)
      : trial_(trial),
        requests_(requests),
        clients_(clients),
        origin_ns_(requests.front().begin_ns),
        tally_(0, kBinTicks, true, std::nullopt, kTickS) {}

  void fill() {
    for (const TimedRequest& request : requests_) add(request);
    const double busy_s = clients_ > 1 ? fill_load() : sum_s_;
    trial_.generation = has_parts_ ? tally_.generation().record(kTickS, busy_s) : std::nullopt;
    if (!trial_.generation) return;
    for (Counter& counter : generation_counters(*trial_.generation)) trial_.counters.push_back(std::move(counter));
  }

 private:
  void add(const TimedRequest& request) {
    const std::uint64_t begin = ticks(request.begin_ns), end = ticks(request.end_ns);
    const RequestTimes times{.arrival = begin, .free = begin, .issue = begin, .end = end};
    trial_.wall_s = std::max(trial_.wall_s, static_cast<double>(end) * kTickS);
    if (request.failed) return tally_.failed(times, {"the tool counted it as failed", "other"});
    trial_.begin_s.push_back(static_cast<double>(begin) * kTickS);
    trial_.end_s.push_back(static_cast<double>(end) * kTickS);
    sum_s_ += static_cast<double>(end - begin) * kTickS;
    AnswerParts parts{.output_tokens = request.output_tokens, .prompt_tokens = request.prompt_tokens};
    for (const std::int64_t moment_ns : request.moments_ns) parts.moments.push_back(ticks(moment_ns));
    const bool has_parts = !parts.moments.empty() || parts.output_tokens;
    has_parts_ = has_parts_ || has_parts;
    tally_.completed(times, has_parts ? &parts : nullptr);
  }

  [[nodiscard]] std::uint64_t ticks(std::int64_t moment_ns) const {
    return static_cast<std::uint64_t>(moment_ns - origin_ns_);
  }

  double fill_load() {
    LoadRecord load;
    load.clients = clients_;
    tally_.fill(load, Timeline(kBinTicks));
    load.due = load.issued;
    load.kept = load.completed;
    load.arrivals_s = load.duration_s;
    trial_.counters = load_counters(load);
    trial_.load = std::move(load);
    return trial_.load->duration_s;
  }

  Samples& trial_;
  const std::vector<TimedRequest>& requests_;
  int clients_;
  std::int64_t origin_ns_;
  RequestTally tally_;
  double sum_s_ = 0;
  bool has_parts_ = false;
};

}  // namespace

void fill_from_requests(Samples& trial, const std::vector<TimedRequest>& sorted, int clients) {
  RequestTrial(trial, sorted, clients).fill();
}

}  // namespace infermeter
