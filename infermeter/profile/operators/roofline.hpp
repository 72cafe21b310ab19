// Roofline: how near is each operator to what this machine can do? (Williams, Waterman & Patterson 2009.) Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "infermeter/profile/operators/operator_times.hpp"
#include "infermeter/samples/machine_peaks.hpp"
#include "infermeter/samples/operator_profile.hpp"

namespace infermeter {

enum class Bound { compute, memory };
[[nodiscard]] std::string_view to_string(Bound bound);

// The least time of an operator is what the slower of the two takes at best: its operations at the peak of its dtype,
// or its bytes. Bytes come at the best bandwidth of a level that can hold them: what an operator reads and writes, of
// one that holds its bytes, as its neighbours may have left them there; its weights, of one that holds all weights and
// the room of the activations, as all of that passes between two inferences.
struct RooflinePoint {
  std::size_t op = 0;
  double flops = 0;        // per inference
  double bytes = 0;        // per inference; 0: not known
  double flops_per_s = 0;  // achieved
  double intensity = 0;    // flops per byte; 0: bytes are not known
  double least_s = 0;      // max(flops / peak, bytes / bandwidth)
  double fraction = 0;     // least_s / time, never clipped
  Bound bound = Bound::compute;
  std::string dtype{};         // that its operations are compared with: "float32"
  bool dtype_assumed = false;  // the operator's own is not reported
  bool above_roof = false;     // fraction > kAboveRoof: an error of the peaks or of the counted work
};
inline constexpr double kAboveRoof = 1.02;

struct Roofline {
  std::vector<RooflinePoint> points;     // of operators whose flops are known and not 0, in the table's order
  std::optional<double> whole_fraction;  // of the model: sum of the points' least times / wall
  double whole_flops = 0;                // of the points
  std::vector<std::string> notes;        // what was assumed, what is left out, what is above its roof
  std::string reason;                    // why there is none; empty: there is one
};
// `operators`: those that the table's indices mean. `assumed_dtype`: of operators that do not report theirs.
[[nodiscard]] Roofline roofline(const OperatorTable& table, const std::vector<ProfiledOperator>& operators,
                                const MachinePeaks& peaks, std::string_view assumed_dtype = "float32");

}  // namespace infermeter
