// The course of a race, block by block, from what each block left: pilots, halving, race, confirmation.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "infermeter/stats/comparison/race.hpp"
#include "infermeter/verdict/tuning/bounds.hpp"
#include "infermeter/verdict/tuning/race_values.hpp"
#include "infermeter/verdict/tuning/tuning_verdict.hpp"

namespace infermeter {

class TuningReplay {
 public:
  TuningReplay(const RunRecord& record, const Verdict& verdict, RaceValues& known);  // all outlive it

  [[nodiscard]] TuningVerdict play();

 private:
  [[nodiscard]] TunedSetting& at(int subject) { return course_.settings[static_cast<std::size_t>(subject)]; }
  void leave_out(int subject, SettingFate fate, std::string reason, int after);
  [[nodiscard]] std::vector<int> still_in() const;

  // Each returns false where something is to be measured first, which is then course_.next.
  [[nodiscard]] bool pilots();
  [[nodiscard]] bool halve();
  [[nodiscard]] bool race();
  [[nodiscard]] bool confirm();
  [[nodiscard]] bool is_there(TuningStage stage, int block, std::vector<int> subjects);

  void leave_out_failed(int subject);
  void leave_out_by_pilot(int subject);
  void leave_out_other_outputs(int subject, int after);
  void judge_known_bounds(int subject);
  void rank_by_size();
  void end_halving_round(std::vector<int>& field, int blocks);

  [[nodiscard]] bool is_out_of_time(int block);
  [[nodiscard]] double confirming_block_s(int block) const;
  [[nodiscard]] std::vector<int> racing() const;
  void take_block(int block);
  void take_failures(int block);
  void look_at_bounds(int block, bool ended);
  void look_at_load(std::size_t member, std::span<const Samples> own);
  void look_at_bounds_of_confirmed();
  void judge_bound(int subject, const Expectation& asked, std::span<const Samples> own, bool ended,
                   BoundVerdict& bound) const;
  [[nodiscard]] bool may_win(int subject) const;
  void leave_out_without_values();
  void withdraw(std::size_t member, SettingFate fate, std::string reason);
  void rank();
  [[nodiscard]] std::optional<int> best_of_race() const;
  void set_distances(int best);
  [[nodiscard]] std::optional<int> second_to(int best) const;
  [[nodiscard]] std::vector<int> confirmed() const;
  [[nodiscard]] std::optional<PairedComparison> confirmed_against(int baseline) const;

  const RunRecord& record_;
  const Verdict& verdict_;
  const Tuning& tuning_;
  std::vector<Expectation> bounds_;
  RaceTrials trials_;
  TuningVerdict course_;
  std::vector<int> members_;    // subjects of the race
  std::set<int> takes_load_{};  // subjects that a look found to take it
  std::optional<Race> race_{};  // of them, by their places
  int first_block_ = 0, first_confirming_ = 0;
};

}  // namespace infermeter
