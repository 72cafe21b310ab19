// Trial: the measurement as an object whose call is a list of named steps. A template on its clocks, so that tests run
// it on simulated time.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "infermeter/samples/generation/generation_counters.hpp"
#include "infermeter/samples/load/load_counters.hpp"
#include "infermeter/trial/generation/generating_inference.hpp"
#include "infermeter/trial/load/load_trial.hpp"
#include "infermeter/trial/loop_records.hpp"
#include "infermeter/trial/machine/memory_probe.hpp"
#include "infermeter/trial/outputs.hpp"
#include "infermeter/trial/sample_block.hpp"
#include "infermeter/trial/signal_sampler.hpp"
#include "infermeter/trial/subject.hpp"
#include "infermeter/trial/timed_loop.hpp"
#include "infermeter/trial/trial_request.hpp"

namespace infermeter {

// What an Error in `phase` means for the record.
[[nodiscard]] TrialEnd end_for(const Error& error, Phase phase);
// "(1, 3, 224, 224)", as NumPy writes a shape; of several inputs one behind the other.
[[nodiscard]] std::string shapes_text(const ItemValues& inputs);
// Says what was taken for the batch where that is not the first dimension of every input that has one; and that an
// inference is taken for one item, where the first dimension of an input might be a batch and the user did not say that
// it is none.
[[nodiscard]] std::vector<Diagnostic> diagnose_batch(std::span<const Port> inputs, const Pairs& asked);
// Of several counters of one name the first is used.
[[nodiscard]] std::vector<Diagnostic> diagnose_counters(std::span<const Counter> counters);
// Adds one_request_at_a_time where the model was loaded for more.
[[nodiscard]] std::vector<Diagnostic> diagnose_requests(const LoadPlan& asked, const Samples& samples);
// Says where pieces of answers are not tokens.
[[nodiscard]] std::vector<Diagnostic> diagnose_generation(const GenerationRecord& generation);
// `asked_before`: requests of the warm-up.
[[nodiscard]] std::vector<Diagnostic> diagnose_prompts(const Samples& samples, std::uint64_t asked_before);
// Whether answers came piece by piece.
[[nodiscard]] bool has_first_tokens(const Samples& samples);
// What was asked for against what the runtime says it does.
// `is_under_load`: it is not measured one request at a time.
[[nodiscard]] std::vector<Diagnostic> diagnose_executed(const LoadPlan& asked, bool threads_were_said,
                                                        bool is_under_load, const Samples& samples);

// An inference that is followed by a look at the memory, outside of the measured region. The room for what is seen is
// touched first, so that noting it adds nothing to what is seen.
class WatchedInference {
 public:
  WatchedInference(Request& inference, const MemoryProbe& memory, std::uint64_t expected)
      : inference_(inference), memory_(memory) {
    bytes_.reserve(expected);
  }

  [[nodiscard]] bool prepare(std::uint64_t iteration) {
    if (iteration > 0) note();
    return inference_.prepare(iteration);
  }
  [[nodiscard]] bool run() { return inference_.run(); }
  // Of the `done` iterations that ended.
  [[nodiscard]] std::vector<double> bytes(std::uint64_t done) && {
    if (done > 0) note();
    bytes_.resize(done);
    return std::move(bytes_);
  }

 private:
  void note() { bytes_.push_back(static_cast<double>(memory_.resident().value_or(0))); }

  Request& inference_;
  const MemoryProbe& memory_;
  std::vector<double> bytes_;
};

template <class Clock, class Coarse = MonotonicClock>
class Trial final : public AnyTrial {
 public:
  Trial(const imb_backend& backend, TrialRequest request, TrialHost host, const SampleBlock& block,
        const MemoryProbe& memory, Clock clock = {}, Coarse coarse = {})
      : backend_(backend),
        request_(std::move(request)),
        host_(std::move(host)),
        block_(block),
        memory_(memory),
        loop_(request_.launcher),
        clock_(clock),
        coarse_(coarse) {}

  [[nodiscard]] TrialOutcome run() override {
    const Result<Done> steps = all_steps();
    if (!steps.ok()) fail(steps.error());
    outcome_.samples.phase = block_.phase();
    return std::move(outcome_);
  }

 private:
  Result<Done> all_steps() {
    INFERMETER_TRY_DONE(open_runtime());
    INFERMETER_TRY_DONE(load_model());
    INFERMETER_TRY_DONE(compile_model());
    INFERMETER_TRY_DONE(bind_inputs());
    if (!go_on()) return Done{};
    if (counts_first()) {
      record().memory.rss_peak_load = memory_.peak();
    } else {
      INFERMETER_TRY_DONE(first_inference());
      INFERMETER_TRY_DONE(note_executed());
    }
    if (request_.time_it && go_on()) INFERMETER_TRY_DONE(warm_up());
    if (request_.time_it && go_on()) INFERMETER_TRY_DONE(measure());
    if (!go_on()) return Done{};
    INFERMETER_TRY_DONE(collect_outputs());
    block_.set_phase(Phase::done);
    return Done{};
  }

  [[nodiscard]] bool is_under_load() const { return !request_.subject.load.empty(); }
  [[nodiscard]] bool counts_first() const { return request_.time_it && request_.stopping.count_first; }

  // Between steps; the loops look between iterations.
  bool go_on() {
    if (!block_.interrupted()) return true;
    record().end = TrialEnd::interrupted;
    record().message = "interrupted";
    return false;
  }

  // The runtime counts to what the model costs: the resident set before is that of a worker with nothing in it.
  Result<Done> open_runtime() {
    block_.set_phase(Phase::load);
    record().memory.rss_before_load = memory_.resident();
    const std::uint64_t begin = coarse_.now();
    INFERMETER_TRY(Runtime runtime, Runtime::open(backend_, {request_.subject.backend_library, request_.python_folders,
                                                             request_.folder}));
    record().open_s = seconds_since(begin);
    runtime_.emplace(std::move(runtime));
    return Done{};
  }

  Result<Done> load_model() {
    INFERMETER_TRY(plan_, plan_load(request_.subject, model_place(request_), runtime_->info(), usable_processors()));
    plan_.profile_folder = request_.profile_folder;
    plan_.cache_folder = request_.cache_folder;
    plan_.data_shape = request_.data_shape;
    plan_.server_addresses = request_.server_addresses;
    plan_.server_token = request_.server_token;
    const std::uint64_t begin = coarse_.now();
    INFERMETER_TRY(Session session, Session::load(*runtime_, plan_));
    record().load_s = seconds_since(begin);
    session_.emplace(std::move(session));
    return Done{};
  }

  Result<Done> compile_model() {
    if (!session_->has_compile()) return Done{};
    block_.set_phase(Phase::compile);
    const std::uint64_t begin = coarse_.now();
    INFERMETER_TRY_DONE(session_->compile());
    record().compile_s = seconds_since(begin);
    return Done{};
  }

  Result<Done> bind_inputs() {
    block_.set_phase(Phase::inputs);
    outputs_ = session_->outputs();
    inputs_ = session_->inputs();
    const std::int64_t batch_size = request_.subject.batch_size;  // 0: as recorded data have it
    if (batch_size > 0) {
      INFERMETER_TRY(record().items_per_iteration, items_per_inference(inputs_, batch_size));
    }
    INFERMETER_TRY(items_, host_.data(inputs_, outputs_));
    INFERMETER_CHECK(!items_.empty());
    if (batch_size > 0) INFERMETER_TRY_DONE(check_items(inputs_, items_, batch_size));
    for (const ItemValues& item : items_) input_digests_.push_back(digest(item));
    record().input_digest = input_digests_.front();
    INFERMETER_TRY(Request request, Request::create(*session_, items_));
    inference_.emplace(std::move(request));
    record().memory.rss_after_load = memory_.resident();
    record().memory.pss_after_load = memory_.proportional();
    return Done{};
  }

  Result<Done> first_inference() {
    block_.set_phase(Phase::first_inference);
    const std::uint64_t begin = clock_.now();
    const bool good = inference_->run();
    const std::uint64_t end = clock_.now();
    if (!good) return inference_->error("the first inference failed");
    first_ticks_ = end - begin;
    record().first_inference_s = scale_now().tick_s * static_cast<double>(first_ticks_);
    record().memory.rss_peak_load = memory_.peak();
    INFERMETER_TRY(const ItemValues values, inference_->outputs());
    first_digest_ = digest(values);
    first_shapes_ = shapes_of(values);
    return Done{};
  }

  Result<Done> note_executed() {
    INFERMETER_TRY(Pairs executed, session_->executed());
    const imb_runtime_info& info = runtime_->info();
    Samples& samples = record();
    samples.executed = std::move(executed);
    add_executed("runtime", info.runtime_name);
    add_executed("runtime_version", info.runtime_version);
    add_executed("library", info.library);
    add_executed("device", plan_.device.c_str());
    add_executed("input_shape", shapes_text(items_.front()).c_str());
    if (!inputs_.empty()) add_executed("batch_axis", batch_axes_text(inputs_).c_str());
    add(diagnose_batch(inputs_, request_.subject.batch_axes));
    add(diagnose_executed(plan_, request_.subject.threads > 0, is_under_load(), samples));
    if (host_.keep) host_.keep(samples);
    return Done{};
  }

  Result<Done> warm_up() {
    block_.set_phase(Phase::warmup);
    loop_.begin_warmup(memory_);
    SampleHeader& header = block_.header();
    const auto wanted = static_cast<std::uint64_t>(request_.stopping.warmup);
    if (is_under_load()) return warm_up_load(wanted);
    const std::uint64_t kept = block_.warmup().size();
    LoopEnd end =
        timed_loop(clock_, *inference_, {.iterations = kept}, block_.warmup(), header.warmup_done, header.interrupt);
    if (end == LoopEnd::complete) end = untimed_loop(*inference_, kept, wanted, header.warmup_done, header.interrupt);
    if (end == LoopEnd::failed) return inference_->error("an inference of the warm-up failed");
    return Done{};
  }

  Result<Done> warm_up_load(std::uint64_t wanted) {
    INFERMETER_TRY(load_, LoadTrial::prepare(request_, *session_, runtime_->info(), items_,
                                             record().executed_value("concurrent_inferences")));
    if (counts_first()) return Done{};
    const LoopEnd end = load_->warm_up(clock_, coarse_, *inference_, block_, scale_now().tick_s, wanted);
    if (end == LoopEnd::failed) return load_->error();
    return Done{};
  }

  Result<Done> measure() {
    LoopLimits limits = limits_for(request_.stopping, block_, scale_now(), first_ticks_);
    if (is_under_load()) {
      add(load_->offer_lengths(*inference_));
      if (load_->has_lengths()) add_executed("lengths", "of the arrivals");
      limits = load_->limits(limits);
    }
    begin_profile();
    if (host_.before_timed) add(host_.before_timed());
    if (!inference_->prepare(0)) return inference_->error("binding the inputs");
    block_.header().read_cost_ticks = read_cost_ticks(clock_);
    block_.set_phase(Phase::timed);
    loop_.begin(block_, limits, memory_);

    begin_stacks();
    const LoopEnd end = is_under_load()         ? load_->run(clock_, coarse_, *inference_, block_, scale_now().tick_s)
                        : request_.watch_memory ? watched_loop(limits)
                        : session_->has_parts() ? generating_loop(limits)
                                                : loop(*inference_, limits);
    end_stacks();

    loop_.end(block_, limits, request_.stopping, end, plan_.threads, memory_, record());
    if (host_.after_timed) add(host_.after_timed());
    end_profile();
    note_device_memory();
    if (const auto read = session_->read_counters(record().counters); !read.ok())
      add({{DiagnosticId::counters_failed, fmt::format("counters are missing: {}", read.error().message), {}}});
    add(diagnose_counters(record().counters));
    if (counts_first()) INFERMETER_TRY_DONE(note_first());
    if (load_) return note_load(end);
    if (end == LoopEnd::failed) return inference_->error("a timed inference failed");
    note_generation();
    return Done{};
  }

  void note_generation() {
    const std::optional<GenerationRecord>& generation = record().generation;
    if (!generation) return;
    for (Counter& counter : generation_counters(*generation)) record().counters.push_back(std::move(counter));
    add(diagnose_generation(*generation));
    add(diagnose_prompts(record(), block_.header().warmup_done.load()));
  }

  Result<Done> note_load(LoopEnd end) {
    if (end == LoopEnd::failed) return load_->error();
    record().generation = load_->take_generation();
    // Texts may part after one rounding that depends on what else is in flight.
    if (!record().generation) answers_ = load_->answers(*inference_);
    LoadRecord& load = record().load.emplace(load_->take_record());
    for (Counter& counter : load_counters(load)) record().counters.push_back(std::move(counter));
    note_generation();
    if (load_->goodput() && load_->goodput()->needs_parts() && load.completed > 0 && !has_first_tokens(record()))
      return usage_error("goodput has bounds of ttft or tpot, and answers did not come piece by piece: leave them out");
    if (load.completed > 0 || load.errors.empty()) return Done{};
    return model_error(fmt::format("all {} requests failed: {}", load.failed, load.errors.front().first));
  }

  // Of a first inference that was timed like all others.
  Result<Done> note_first() {
    if (block_.timed_done().empty()) return Done{};
    const TickPair first = block_.timed_done().front();
    record().first_inference_s = scale_now().tick_s * static_cast<double>(first.end - first.begin);
    return note_executed();
  }

  // A profile that cannot be made is said, and takes nothing else away.
  void begin_profile() {
    if (request_.profile_folder.empty()) return;
    if (!session_->has_profile()) return say_no_profile("this back end gives none");
    if (const auto begun = session_->profile_begin(); !begun.ok()) return say_no_profile(begun.error().message);
    is_profiled_ = true;
    realtime_ahead_before_ns_ = realtime_ahead_ns();
  }

  void end_profile() {
    if (!is_profiled_) return;
    ClockRecord& clock = record().clock;
    clock.origin_monotonic_ns = static_cast<std::int64_t>(block_.start().monotonic_ns);
    clock.realtime_ahead_ns = realtime_ahead_ns();
    clock.realtime_slip_ns = *clock.realtime_ahead_ns - realtime_ahead_before_ns_;
    if (const auto ended = session_->profile_end(); !ended.ok()) say_no_profile(ended.error().message);
  }

  void say_no_profile(const std::string& why) {
    add({{DiagnosticId::no_operator_profile, "no profile of operators: " + why, {}}});
  }

  void begin_stacks() {
    if (!request_.samples_itself) return;
    const auto begun = start_signal_sampling(host_.signal_area);
    if (!begun.ok()) add({{DiagnosticId::no_stack_profile, "no call stacks: " + begun.error().message, {}}});
  }

  void end_stacks() const {
    if (request_.samples_itself) stop_signal_sampling();
  }

  template <class Step>
  LoopEnd loop(Step& step, const LoopLimits& limits) {
    return timed_loop(clock_, step, limits, block_.timed(), block_.header().timed_done, block_.header().interrupt);
  }

  LoopEnd generating_loop(const LoopLimits& limits) {
    const double tick_s = scale_now().tick_s;
    const PartsReader<Clock, Coarse> reader(clock_, coarse_, tick_s);
    GeneratingInference generating(*inference_, reader, block_);
    const LoopEnd end = loop(generating, limits);
    record().generation = generating.record(tick_s);
    return end;
  }

  LoopEnd watched_loop(const LoopLimits& limits) {
    WatchedInference watched(*inference_, memory_, limits.expected);
    const LoopEnd end = loop(watched, limits);
    record().memory_bytes = std::move(watched).bytes(block_.timed_done().size());
    return end;
  }

  // Once more for each data item: what is timed is not disturbed by copying outputs. Of a single item they still lie
  // where the last timed inference left them.
  Result<Done> collect_outputs() {
    block_.set_phase(Phase::outputs);
    outputs_ = session_->outputs();  // by now also what only a run could tell
    const bool are_there = items_.size() == 1 && request_.time_it && !block_.timed_done().empty() && !load_;
    std::vector<std::uint64_t> digests;
    std::vector<Diagnostic> changed;
    for (std::size_t item = 0; item < items_.size(); ++item) {
      if (!are_there && !run_again(item)) return inference_->error("an inference after the timed loop failed");
      INFERMETER_TRY(ItemValues values, inference_->outputs());
      if (load_) answers_.check(item, values, *record().load);
      digests.push_back(digest(values));
      if (first_shapes_.empty()) first_shapes_ = shapes_of(values);
      if (changed.empty()) changed = diagnose_shapes(outputs_, first_shapes_, shapes_of(values));
      if (item == 0) record().outputs = describe_outputs(outputs_, values, inputs_, record().items_per_iteration);
      if (request_.keep_outputs) outcome_.output_values.push_back(std::move(values));
    }
    record().output_digest = digests.front();
    add(std::move(changed));
    add(diagnose_outputs(record().outputs, first_digest_.value_or(digests.front()), digests, input_digests_));
    return Done{};
  }

  [[nodiscard]] bool run_again(std::size_t item) {
    for (int attempt = 0; attempt < (load_ ? load_->attempts() : 1); ++attempt)
      if (inference_->prepare(item) && inference_->run()) return true;
    return false;
  }

  Samples& record() { return outcome_.samples; }

  void fail(const Error& error) {
    record().end = end_for(error, block_.phase());
    record().usage = error.kind == ErrorKind::usage;
    record().message = error.message;
  }

  void note_device_memory() {
    if (const auto device = session_->device_memory()) {
      record().memory.device_now = device->now;
      record().memory.device_peak = device->peak;
    }
  }

  void add_executed(const char* key, const char* value) {
    if (value != nullptr && record().executed_value(key).empty()) record().executed.emplace_back(key, value);
  }

  void add(std::vector<Diagnostic> found) {
    for (Diagnostic& diagnostic : found) record().diagnostics.push_back(std::move(diagnostic));
  }

  [[nodiscard]] double seconds_since(std::uint64_t begin_ns) const {
    return static_cast<double>(coarse_.now() - begin_ns) * 1e-9;
  }
  [[nodiscard]] TickScale scale_now() const {
    return scale_between(block_.clock(), block_.start(), read_pair(clock_, coarse_));
  }

  const imb_backend& backend_;
  TrialRequest request_;
  TrialHost host_;
  SampleBlock block_;
  const MemoryProbe& memory_;
  LoopRecords loop_;
  Clock clock_;
  Coarse coarse_;

  TrialOutcome outcome_;
  LoadPlan plan_;
  std::optional<Runtime> runtime_;
  std::optional<Session> session_;
  std::vector<ItemValues> items_;
  std::optional<Request> inference_;
  std::optional<LoadTrial> load_;
  Answers answers_;  // of its clients
  std::vector<Port> inputs_, outputs_;
  std::vector<std::uint64_t> input_digests_;
  std::uint64_t first_ticks_ = 0;
  std::vector<Shape> first_shapes_;            // of the outputs of the first inference that they were looked at
  std::optional<std::uint64_t> first_digest_;  // nullopt: the first inference counted, and nobody looked at its outputs
  bool is_profiled_ = false;
  std::int64_t realtime_ahead_before_ns_ = 0;
};

}  // namespace infermeter
