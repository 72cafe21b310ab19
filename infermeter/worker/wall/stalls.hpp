// Stalls: stretches in which a worker, or who watches it, did not run: stopped, frozen, or suspended with its machine.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "infermeter/samples/samples.hpp"

namespace infermeter {

// In seconds, from the origin of the iterations' times.
struct Stall {
  double begin_s = 0, end_s = 0;
};

// The time that a worker has had for its phase. A look that comes late was delayed on our side: what is beyond the time
// in which it was due is not the worker's.
class PhaseClock {
 public:
  explicit PhaseClock(double now_s) : began_s_(now_s), looked_s_(now_s) {}
  void begin(double now_s) { began_s_ = now_s; }
  void look(double now_s, double due_within_s);
  void exclude(double seconds);  // that have passed since the last look
  [[nodiscard]] double spent_s(double now_s) const { return now_s - began_s_; }

 private:
  double began_s_, looked_s_;
};

// Looks at the processor time that a worker has used; keeps stretches of 0.25 s and more in which it used none.
class StallWatch {
 public:
  void look(double at_s, std::optional<double> processor_s);
  [[nodiscard]] std::vector<Stall> stalls() const;

 private:
  std::optional<double> last_at_s_, last_processor_s_;
  std::vector<Stall> stalls_;
  bool is_open_ = false;
};

// stood_still for timed iterations that hold most of a stall and are outliers by more than half of it: beyond the
// median by 10 median absolute deviations. A subject that waits in every iteration has none.
[[nodiscard]] std::vector<Diagnostic> diagnose_stalls(std::span<const Stall> stalls, const Samples& samples);

}  // namespace infermeter
