// What a race of settings says, so far or in the end.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "infermeter/stats/comparison/race.hpp"
#include "infermeter/verdict/comparison.hpp"

namespace infermeter {

enum class TuningStage { pilots, halving, race, confirmation, ended };
[[nodiscard]] std::string_view to_string(TuningStage stage);

enum class SettingFate {
  best,       // it leads
  equal,      // within the indifference of the best
  open,       // not distinguished from the best
  worse,      // shown not to be the best
  halved,     // left behind before the race, where the field was halved
  bound,      // beyond a constraint
  outputs,    // it answers something else than the default
  load,       // most of its processes did not take the load: the rate, failed requests, a queue that grows
  failed,     // a process of it did not end well
  not_raced,  // no process of it has ended yet
};
[[nodiscard]] std::string_view to_string(SettingFate fate);

enum class BoundKept { yes, no, unknown };  // a constraint
[[nodiscard]] std::string_view to_string(BoundKept kept);

struct BoundVerdict {
  std::string constraint;  // as it was written
  BoundKept kept = BoundKept::unknown;
  std::optional<double> value;
  std::optional<Interval> interval;
  std::string why;  // there is no value or interval
};

struct TunedSetting {
  int subject = 0;
  SettingFate fate = SettingFate::not_raced;
  std::string reason;  // of what is out: the constraint with its figure, how it ended; text from outside
  int blocks = 0;      // of the race that it took part in
  // Of those that are out: after so many blocks of the race; 0: before it.
  std::optional<int> out_after;
  // Against the best one, in the blocks that both were measured in: of logarithms, positive is worse. The interval is
  // Student's of these blocks alone: the bests of many look better than they are, so that the confirmation counts.
  std::optional<double> behind;
  std::optional<Interval> behind_interval;
  std::vector<BoundVerdict> bounds;  // in the plan's order
  bool on_front = false;             // of objective, latency, memory, size and accuracy
};

// The trials that are to come next: of these subjects, in the plan's order.
struct NextBlock {
  int process = 0;
  std::vector<int> subjects;
};

struct TuningVerdict {
  TuningStage stage = TuningStage::pilots;
  std::optional<int> best, second;     // subjects; nullopt: none can be determined
  bool decided = false;                // nobody is left beside the best and its equals
  bool out_of_time = false;            // the race ended by the budget or by its number of blocks
  std::vector<TunedSetting> settings;  // in the plan's order
  int blocks = 0;                      // of the race, complete ones
  // From blocks that had no part in choosing: the best against the default, and against the second. nullopt: it is that
  // one, or there are none.
  std::optional<PairedComparison> against_default, against_second;
  std::optional<NextBlock> next;  // nullopt: nothing is left to be measured
  double wall_s = 0;              // trials and pilots
};

}  // namespace infermeter
