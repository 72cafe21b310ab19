#include "infermeter/trial/measure.hpp"

#include <algorithm>

#include "infermeter/trial/host_process.hpp"
#include "infermeter/trial/loop_records.hpp"
#include "infermeter/trial/machine/lazy_pages.hpp"
#include "infermeter/trial/machine/times.hpp"

namespace infermeter {

struct Measurement::Records {
  explicit Records(std::size_t bytes) : pages(bytes) {}

  LazyPages pages;
  MemoryProbe memory;
  LoopRecords loop{0};
  LoopLimits limits;
  double began_wall_s = wall_clock_s(), began_s = monotonic_s();
  bool looped = false;
};

Measurement::Measurement(const Stopping& stopping, const MeasureOptions& options)
    : stopping_(stopping),
      options_(options),
      warmup_(static_cast<std::uint64_t>(std::max<std::int64_t>(stopping.warmup, 0))),
      records_(std::make_unique<Records>(SampleBlock::bytes_for(SampleBlock::capacity_for(stopping, true)))),
      block_(SampleBlock::create(records_->pages.bytes(), SampleBlock::capacity_for(stopping, true), best_clock(),
                                 read_pair(best_clock()))) {
  records_->loop.begin_warmup(records_->memory);
}

Measurement::~Measurement() = default;

LoopLimits Measurement::begin_loop(std::uint64_t first_ticks, double read_cost) {
  Records& records = *records_;
  const TickScale scale = scale_between(block_.clock(), block_.start(), read_pair(block_.clock()));
  records.limits = limits_for(stopping_, block_, scale, first_ticks);
  block_.header().read_cost_ticks = read_cost;
  records.looped = true;
  records.loop.begin(block_, records.limits, records.memory);
  return records.limits;
}

Samples Measurement::end_loop(LoopEnd end) {
  Records& records = *records_;
  Samples samples;
  samples.items_per_iteration = options_.items_per_iteration;
  samples.phase = records.looped ? Phase::timed : Phase::warmup;
  if (records.looped) records.loop.end(block_, records.limits, stopping_, end, 0, records.memory, samples);
  const bool interrupted = options_.interrupt != nullptr && options_.interrupt->load(std::memory_order_relaxed) != 0;
  if (end == LoopEnd::complete)
    samples.phase = Phase::done;
  else
    samples.end = interrupted ? TrialEnd::interrupted : TrialEnd::run_failed;
  if (end != LoopEnd::complete) samples.message = interrupted ? "interrupted" : "the callable said that it failed";
  record_times(block_, read_pair(block_.clock()), samples);
  samples.host_process = host_process_name();
  samples.started_at = records.began_wall_s;
  samples.wall_s = monotonic_s() - records.began_s;
  return samples;
}

}  // namespace infermeter
