#include "infermeter/profile/operators/roofline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace infermeter {
namespace {

// What the points leave open, counted.
struct OpenSpan {
  std::size_t assumed = 0, unknown_work = 0, unknown_bytes = 0, without_time = 0, above = 0;
  std::vector<std::pair<std::string, std::size_t>> without_peak;  // dtype, operators

  void no_peak(const std::string& dtype) {
    const auto found = std::ranges::find(without_peak, dtype, &std::pair<std::string, std::size_t>::first);
    if (found == without_peak.end())
      without_peak.emplace_back(dtype, 1);
    else
      ++found->second;
  }
};

std::string operators_text(std::size_t count) { return fmt::format("{} operator{}", count, count == 1 ? "" : "s"); }

std::vector<std::string> notes_of(const OpenSpan& open, bool has_memory, std::string_view assumed_dtype) {
  std::vector<std::string> notes;
  const auto add = [&](std::size_t count, std::string_view what) {
    if (count > 0) notes.push_back(fmt::format("{}: {}", operators_text(count), what));
  };
  add(open.assumed, fmt::format("the executed precision is not known, {} is assumed", assumed_dtype));
  for (const auto& [dtype, count] : open.without_peak)
    add(count, fmt::format("left out, as no peak of {} was measured", dtype));
  add(open.unknown_work, "left out, as its work cannot be counted");
  add(open.without_time, "left out: no time was reported");
  if (!has_memory)
    notes.emplace_back("DRAM was not measured: bytes that no cache can hold are left out");
  else
    add(open.unknown_bytes, "its bytes are not known, only operations are compared with their peak");
  add(open.above, "faster than was measured as possible: the peak or the counted work is wrong");
  return notes;
}

// "" where it is not reported. Products of unsigned and signed bytes have one peak.
std::string_view peak_name(std::string_view precision) { return precision == "uint8" ? "int8" : precision; }

const ComputePeak* find_peak(const MachinePeaks& peaks, std::string_view dtype) {
  const auto found = std::ranges::find(peaks.compute, dtype, &ComputePeak::dtype);
  return found == peaks.compute.end() || !(found->ops_per_s > 0) ? nullptr : &*found;
}

// The best of the levels that can hold so much; 0: there is none. The triad is another mix of reads and writes.
double bandwidth_for(const MachinePeaks& peaks, double bytes) {
  double best = 0;
  for (const BandwidthPeak& level : peaks.bandwidth) {
    const bool holds = level.level == "DRAM" || (level.level != "DRAM triad" && level.holds_bytes > 0 &&
                                                 bytes <= static_cast<double>(level.holds_bytes));
    if (holds) best = std::max(best, level.bytes_per_s);
  }
  return best;
}

double memory_s(const ProfiledOperator& op, double model_bytes, const MachinePeaks& peaks) {
  const double bytes = op.moved_bytes.value_or(0);
  const double weights = std::min(bytes, static_cast<double>(op.parameter_bytes.value_or(0)));
  const double near = bandwidth_for(peaks, bytes), far = bandwidth_for(peaks, std::max(bytes, model_bytes));
  if (!(near > 0) || !(far > 0)) return 0;
  return (bytes - weights) / near + weights / far;
}

struct Ceiling {
  const MachinePeaks& peaks;
  double model_bytes;
  std::string_view assumed_dtype;
};

// Nothing where the operator does no counted work, or where a sentence of `open` says why.
std::optional<RooflinePoint> point_of(const OperatorTime& time, const ProfiledOperator& op, const Ceiling& ceiling,
                                      OpenSpan& open) {
  if (!op.flops && !op.nodes.empty()) ++open.unknown_work;
  if (!(op.flops.value_or(0) > 0)) return std::nullopt;
  if (!(time.mean_s > 0)) {
    ++open.without_time;
    return std::nullopt;
  }
  RooflinePoint point{.op = time.op, .flops = *op.flops, .bytes = op.moved_bytes.value_or(0)};
  point.dtype_assumed = op.precision.empty();
  point.dtype = peak_name(point.dtype_assumed ? ceiling.assumed_dtype : op.precision);
  const ComputePeak* const peak = find_peak(ceiling.peaks, point.dtype);
  if (peak == nullptr) {
    open.no_peak(point.dtype);
    return std::nullopt;
  }
  const double compute_s = point.flops / peak->ops_per_s;
  const double bytes_s = memory_s(op, ceiling.model_bytes, ceiling.peaks);
  point.bound = bytes_s > compute_s ? Bound::memory : Bound::compute;
  point.least_s = std::max(compute_s, bytes_s);
  point.fraction = point.least_s / time.mean_s;
  point.above_roof = point.fraction > kAboveRoof;
  point.flops_per_s = point.flops / time.mean_s;
  if (point.bytes > 0)
    point.intensity = point.flops / point.bytes;
  else
    ++open.unknown_bytes;
  if (point.dtype_assumed) ++open.assumed;
  if (point.above_roof) ++open.above;
  return point;
}

// What passes between two uses of a weight: all weights, and the room of the activations, which is used again: what the
// runtime reports of it, else that of the operator with the most.
double working_set(const std::vector<ProfiledOperator>& operators) {
  double weights = 0, room = 0, largest = 0;
  for (const ProfiledOperator& op : operators) {
    const double own = std::min(op.moved_bytes.value_or(0), static_cast<double>(op.parameter_bytes.value_or(0)));
    weights += own;
    room = std::max(room, static_cast<double>(op.arena_peak_bytes.value_or(0)));
    largest = std::max(largest, op.moved_bytes.value_or(0) - own);
  }
  return weights + (room > 0 ? room : largest);
}

}  // namespace

std::string_view to_string(Bound bound) { return bound == Bound::compute ? "compute" : "memory"; }

Roofline roofline(const OperatorTable& table, const std::vector<ProfiledOperator>& operators, const MachinePeaks& peaks,
                  std::string_view assumed_dtype) {
  Roofline found;
  if (peaks.compute.empty()) {
    found.reason = peaks.missing.empty() ? "no peaks were measured" : peaks.missing.front();
    return found;
  }
  const Ceiling ceiling{.peaks = peaks, .model_bytes = working_set(operators), .assumed_dtype = assumed_dtype};
  OpenSpan open;
  double least_s = 0;
  for (const OperatorTime& time : table.operators) {
    if (time.op >= operators.size()) continue;
    auto point = point_of(time, operators[time.op], ceiling, open);
    if (!point) continue;
    least_s += point->least_s;
    found.whole_flops += point->flops;
    found.points.push_back(std::move(*point));
  }
  found.notes = notes_of(open, bandwidth_for(peaks, std::numeric_limits<double>::infinity()) > 0, assumed_dtype);
  if (found.points.empty()) {
    found.reason = found.notes.empty() ? "no operator's work is known" : "no operator can be compared with a peak";
    return found;
  }
  if (table.wall_s > 0) found.whole_fraction = least_s / table.wall_s;
  return found;
}

}  // namespace infermeter
