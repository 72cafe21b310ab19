#include "infermeter/trial/load/load_trial.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "infermeter/trial/machine/noise.hpp"

namespace infermeter {
namespace {

constexpr int kServerRequests = 64;  // in flight at most, unless the user says
// After the last arrival whoever still waits is given up after as long as arrivals lasted, but after this at the
// latest.
constexpr double kLongestPatience = 300;  // seconds

bool is_server(const imb_runtime_info& info) {
  return info.model_formats != nullptr && std::string_view(info.model_formats) == "server";
}

int number_of_requests(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() ? std::clamp(number, 1, kMostInFlight) : 1;
}

}  // namespace

std::size_t requests_in_flight(const LoadShape& shape, const imb_runtime_info& info, std::string_view at_once) {
  const int usual = is_server(info) ? kServerRequests : number_of_requests(at_once);
  std::int64_t wanted = shape.concurrency > 0 ? shape.concurrency : usual;
  if (shape.scenario == LoadScenario::multi_stream) wanted = std::min(wanted, shape.samples);
  if (info.concurrent_requests > 0) wanted = std::min<std::int64_t>(wanted, info.concurrent_requests);
  return static_cast<std::size_t>(std::max<std::int64_t>(wanted, 1));
}

Result<LoadTrial> LoadTrial::prepare(const TrialRequest& trial, const Session& session, const imb_runtime_info& info,
                                     const std::vector<ItemValues>& items, std::string_view at_once) {
  LoadTrial load;
  INFERMETER_TRY(load.shape_, load_shape_from_pairs(trial.subject.load));
  INFERMETER_TRY(load.trace_, read_trace_of(load.shape_.arrivals));
  load.stopping_ = trial.stopping;
  load.seed_ = trial.arrivals_seed;
  load.counts_failures_ = is_server(info);
  std::size_t count = requests_in_flight(load.shape_, info, at_once);
  if (load.stopping_.iterations && load.shape_.scenario != LoadScenario::multi_stream)
    count = std::min(count, static_cast<std::size_t>(*load.stopping_.iterations));
  load.queues_in_runtime_ = !is_server(info) && count > static_cast<std::size_t>(number_of_requests(at_once));
  for (std::size_t i = 1; i < count; ++i) {
    INFERMETER_TRY(Request request, Request::create(session, items));
    if (load.queues_in_runtime_) request.use_threads_of_runtime();
    load.requests_.push_back(std::move(request));
  }
  const bool has_queues = session.has_queues() && count > 1 && load.shape_.scenario != LoadScenario::multi_stream;
  for (std::size_t i = 0; has_queues && i < std::min<std::size_t>(count, usable_processors()); ++i) {
    INFERMETER_TRY(RequestQueue queue, RequestQueue::create(session));
    load.queues_.push_back(std::move(queue));
  }
  return load;
}

std::vector<Diagnostic> LoadTrial::offer_lengths(Request& own) {
  if (trace_.lengths.empty()) return {};
  const TraceLengths& first = trace_.lengths.front();
  if (own.takes_lengths() && own.ask(first.prompt, first.answer)) return {};
  trace_.lengths.clear();
  return {{DiagnosticId::trace_lengths_not_taken,
           fmt::format("the arrivals say how long prompts and answers are, and {}: their times alone are used",
                       own.takes_lengths() ? own.error("").message : "this back end takes no lengths"),
           {}}};
}

LoopLimits LoadTrial::limits(const LoopLimits& one_after_the_other) const {
  const auto room = static_cast<double>(one_after_the_other.iterations);
  double expected = static_cast<double>(one_after_the_other.expected) * static_cast<double>(requests_.size() + 1);
  if (shape_.rate > 0 && stopping_.duration_s) expected = shape_.rate * *stopping_.duration_s * 1.1 + 1000;
  return {.iterations = one_after_the_other.iterations,
          .expected = static_cast<std::uint64_t>(std::min(expected, room)),
          .budget_ticks = 0};
}

LoadOrders LoadTrial::orders(double tick_s) const {
  LoadOrders orders{.shape = shape_, .tick_s = tick_s, .counts_failures = counts_failures_};
  if (stopping_.iterations) orders.requests = static_cast<std::uint64_t>(*stopping_.iterations);
  if (stopping_.duration_s) {
    orders.arrivals_ticks = static_cast<std::uint64_t>(*stopping_.duration_s / tick_s);
    orders.patience_ticks = static_cast<std::uint64_t>(std::min(*stopping_.duration_s, kLongestPatience) / tick_s);
  }
  return orders;
}

LoadOrders LoadTrial::warmup_orders(std::uint64_t iterations, double tick_s) const {
  const std::uint64_t clients = requests_.size() + 1;
  const std::uint64_t of_each = (iterations + clients - 1) / clients;
  return {.shape = {.scenario = LoadScenario::closed, .concurrency = static_cast<int>(clients)},
          .of_each = clients > 1 ? std::max<std::uint64_t>(of_each, 1) : of_each,
          .tick_s = tick_s,
          .counts_failures = counts_failures_};
}

Answers LoadTrial::answers(Request& own) {
  Answers answers;
  const auto keep = [&answers](Request& request) {
    // A request that failed has none.
    if (auto values = request.outputs(); values.ok()) answers.keep(request.bound_item(), std::move(*values));
  };
  keep(own);
  for (Request& request : requests_) keep(request);
  answers.keep(std::exchange(sampled_, {}));
  return answers;
}

void LoadTrial::note_failure(const Request* request, const std::string& thread_error, std::string_view what) {
  error_ = request != nullptr
               ? request->error(what)
               : usage_error(fmt::format("{} threads could not be made ({}): a lower concurrency needs fewer",
                                         requests_.size() + 1, thread_error));
}

}  // namespace infermeter
