// From raw ticks to the times of a record.
#pragma once

#include "infermeter/samples/samples.hpp"
#include "infermeter/trial/sample_block.hpp"

namespace infermeter {

// Fills begin_s, end_s, warmup_*, clock and ready_s from the block, whose origin is its start pair and whose scale
// reaches from there to `last`. A pair that cannot be (before the origin, ending before it begins, after `last`) ends
// the list: the clock went back there, or the block was overwritten.
// Adds clock_went_back, clock_not_tsc, and timer_resolution if the median inference takes less than 20 clock readings.
// `overlapping`: they are of requests, several of which may be in flight; otherwise none begins before the last has
// ended.
void record_times(const SampleBlock& block, const ClockPair& last, Samples& samples, bool overlapping = false);

}  // namespace infermeter
