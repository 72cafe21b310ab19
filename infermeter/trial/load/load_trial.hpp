// LoadTrial: the timed loop of a trial under load: as many requests as may be in flight, and the loop over them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "infermeter/samples/load/load_record.hpp"
#include "infermeter/trial/generation/answer_parts.hpp"
#include "infermeter/trial/load/answers.hpp"
#include "infermeter/trial/load/find_rate.hpp"
#include "infermeter/trial/load/load_loop.hpp"
#include "infermeter/trial/load/trace.hpp"
#include "infermeter/trial/machine/sleep_until.hpp"
#include "infermeter/trial/subject.hpp"
#include "infermeter/trial/trial_request.hpp"

namespace infermeter {

// A client's request, as the loop wants it. `Reader`: a PartsReader.
template <class Reader>
struct LoadStep {
  Request* request;
  const Reader* reader;
  const std::vector<TraceLengths>* lengths;  // of the requests; none: the subject's own
  bool keeps_answers = false;
  bool has_kept_answer = false;  // the one that the request has now
  Answers answers{};
  AnswerParts answer_parts{};

  [[nodiscard]] bool prepare(std::uint64_t number) {
    if (has_kept_answer) keep_answer();
    has_kept_answer = keeps_answers && is_kept_answer(number);
    if (!request->prepare(number)) return false;
    if (number >= lengths->size()) return true;
    const TraceLengths& said = (*lengths)[number];
    return request->ask(said.prompt, said.answer);
  }
  [[nodiscard]] bool run() const { return request->run(); }
  [[nodiscard]] bool settle() const { return request->settle(); }
  template <class Queue>
  [[nodiscard]] bool submit(Queue& queue) const {
    return request->submit(queue.requests());
  }
  [[nodiscard]] bool finish() const { return request->finish(); }
  [[nodiscard]] RequestError error() const { return {request->error("a request").message, request->failure_kind()}; }
  [[nodiscard]] const AnswerParts* parts() { return reader->read(*request, answer_parts) ? &answer_parts : nullptr; }
  void keep_answer() {
    if (auto values = request->outputs(); values.ok()) answers.keep(request->bound_item(), std::move(*values));
  }
};

// A back end's queue, as the loop wants it.
template <class Clock, class Coarse, class Step>
class LoadQueue {
 public:
  // `steps` of all queues.
  LoadQueue(RequestQueue& requests, std::span<Step> steps, const Coarse& coarse, double tick_s)
      : requests_(requests), coarse_(coarse), tick_s_(tick_s) {
    for (Step& step : steps) steps_.emplace(step.request->get(), &step);
  }
  [[nodiscard]] EndedStep<Step> next(const Clock& clock, std::uint64_t moment, bool may_spin) {
    SleepUntil::be_exact();
    const std::uint64_t now = clock.now();
    const double left_s = moment > now ? static_cast<double>(moment - now) * tick_s_ : 0;
    const double sleep_s = std::max(may_spin ? left_s - SleepUntil::spin_s : left_s, 0.0);
    const RequestQueue::Ended ended = requests_.next_ended(static_cast<std::int64_t>(sleep_s * 1e9));
    const auto found = steps_.find(ended.request);
    if (found == steps_.end()) return {};
    return {found->second, MonotonicStamps(clock, coarse_, tick_s_ * 1e9).ticks(ended.moment_ns)};
  }
  [[nodiscard]] bool is_broken() const { return requests_.is_broken(); }
  [[nodiscard]] RequestQueue& requests() { return requests_; }

 private:
  RequestQueue& requests_;
  const Coarse& coarse_;
  double tick_s_;
  std::unordered_map<const imb_request*, Step*> steps_;
};

// How many requests are in flight at most. `at_once`: what the model is loaded for ("concurrent_inferences" of what is
// executed), or nothing.
[[nodiscard]] std::size_t requests_in_flight(const LoadShape& shape, const imb_runtime_info& info,
                                             std::string_view at_once);

class LoadTrial {
 public:
  // Makes the requests beside the trial's own.
  [[nodiscard]] static Result<LoadTrial> prepare(const TrialRequest& trial, const Session& session,
                                                 const imb_runtime_info& info, const std::vector<ItemValues>& items,
                                                 std::string_view at_once);

  // Whether the subject takes the lengths of recorded arrivals, which `own` is asked for; otherwise they are let go.
  [[nodiscard]] std::vector<Diagnostic> offer_lengths(Request& own);
  [[nodiscard]] bool has_lengths() const { return !trace_.lengths.empty(); }

  // All requests at once, each `iterations` times over their number and at least once: what a runtime has for a request
  // (threads, streams, buffers) is cold until it has run, and beside the others. A single request runs `iterations`
  // times. A failure of a server is not one here: it comes again where it is counted.
  template <class Clock, class Coarse>
  [[nodiscard]] LoopEnd warm_up(const Clock& clock, const Coarse& coarse, Request& own, const SampleBlock& block,
                                double tick_s, std::uint64_t iterations) {
    using Reader = PartsReader<Clock, Coarse>;
    using Step = LoadStep<Reader>;
    using Queue = LoadQueue<Clock, Coarse, Step>;
    const Reader reader(clock, coarse, tick_s);
    const std::vector<TraceLengths> no_lengths;
    std::vector<Step> steps = steps_of(own, reader, no_lengths);
    std::vector<Queue> queues = queues_of<Queue>(std::span(steps), coarse, tick_s);
    const LoadOrders orders = warmup_orders(iterations, tick_s);
    LoadLoop<Clock, SleepUntil, Step, Queue> loop(
        clock, SleepUntil{tick_s}, orders, Schedule(orders.shape, seed_),
        {.pairs = block.warmup(), .done = &block.header().warmup_done, .interrupt = &block.header().interrupt});
    const LoopEnd end = loop.run(steps, queues);
    if (end == LoopEnd::failed)
      note_failure(loop.failed_step(), loop.thread_error(), "a request of the warm-up failed");
    return end;
  }

  // How many pairs there will be, about, of `limits` for inferences one after the other.
  [[nodiscard]] LoopLimits limits(const LoopLimits& one_after_the_other) const;

  template <class Clock, class Coarse>
  [[nodiscard]] LoopEnd run(const Clock& clock, const Coarse& coarse, Request& own, const SampleBlock& block,
                            double tick_s) {
    using Reader = PartsReader<Clock, Coarse>;
    using Step = LoadStep<Reader>;
    using Queue = LoadQueue<Clock, Coarse, Step>;
    const Reader reader(clock, coarse, tick_s);
    std::vector<Step> steps = steps_of(own, reader, trace_.lengths);
    std::vector<Queue> queues = queues_of<Queue>(std::span(steps), coarse, tick_s);
    SampleHeader& header = block.header();
    std::atomic<std::uint64_t> not_kept = 0;
    const auto run_load = [&](const LoadOrders& orders, std::uint64_t seed, bool keeps) {
      LoadProgress progress{.done = &not_kept, .interrupt = &header.interrupt, .counts = &header.load};
      if (keeps) progress.pairs = block.timed(), progress.done = &header.timed_done;
      for (auto& step : steps) step.keeps_answers = keeps;
      LoadLoop<Clock, SleepUntil, Step, Queue> loop(clock, SleepUntil{tick_s}, orders,
                                                    Schedule(orders.shape, seed, trace_.times_s), progress);
      const LoopEnd end = loop.run(steps, queues);
      if (end == LoopEnd::failed) note_failure(loop.failed_step(), loop.thread_error(), "a request under load failed");
      for (auto& step : steps) sampled_.keep(std::exchange(step.answers, {}));
      LoadRecord record = loop.record();
      generation_ = loop.generation();  // of the last part: that of the record
      return std::pair(end, std::move(record));
    };
    auto [end, record] = shape_.find_rate ? find_rate(shape_, stopping_.duration_s.value_or(0), tick_s, seed_,
                                                      counts_failures_, run_load)
                                          : run_load(orders(tick_s), seed_, true);
    record_ = std::move(record);
    return end;
  }

  [[nodiscard]] const Error& error() const { return *error_; }  // after a run that failed
  [[nodiscard]] LoadRecord take_record() { return std::move(record_); }
  [[nodiscard]] std::optional<GenerationRecord> take_generation() { return std::move(generation_); }
  [[nodiscard]] const std::optional<GoodputBounds>& goodput() const { return shape_.goodput; }
  // A server may fail now and then: what must succeed is tried so often.
  [[nodiscard]] int attempts() const { return counts_failures_ ? 5 : 1; }
  // What each client has got last, of `own` and the others, and what was kept before.
  [[nodiscard]] Answers answers(Request& own);

 private:
  LoadTrial() = default;
  [[nodiscard]] LoadOrders orders(double tick_s) const;
  [[nodiscard]] LoadOrders warmup_orders(std::uint64_t iterations, double tick_s) const;
  void note_failure(const Request* request, const std::string& thread_error, std::string_view what);
  template <class Step>
  void note_failure(const Step* step, const std::string& thread_error, std::string_view what) {
    note_failure(step == nullptr ? nullptr : static_cast<const Request*>(step->request), thread_error, what);
  }
  template <class Reader>
  [[nodiscard]] std::vector<LoadStep<Reader>> steps_of(Request& own, const Reader& reader,
                                                       const std::vector<TraceLengths>& lengths) {
    if (queues_in_runtime_) own.use_threads_of_runtime();
    std::vector<LoadStep<Reader>> steps{{&own, &reader, &lengths}};
    for (Request& request : requests_) steps.push_back({&request, &reader, &lengths});
    return steps;
  }

  template <class Queue, class Coarse, class Step>
  [[nodiscard]] std::vector<Queue> queues_of(std::span<Step> steps, const Coarse& coarse, double tick_s) {
    std::vector<Queue> queues;
    for (RequestQueue& queue : queues_) queues.emplace_back(queue, steps, coarse, tick_s);
    return queues;
  }

  LoadShape shape_;
  Stopping stopping_;
  std::uint64_t seed_ = 0;
  Trace trace_;
  bool counts_failures_ = false;
  bool queues_in_runtime_ = false;  // more requests than the model is loaded for
  std::vector<Request> requests_;
  std::vector<RequestQueue> queues_;  // none: a thread for each request
  LoadRecord record_;
  Answers sampled_;
  std::optional<GenerationRecord> generation_;
  std::optional<Error> error_;
};

}  // namespace infermeter
