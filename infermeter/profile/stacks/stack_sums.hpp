// Stacks of several processes added up, node by node, with a column per process: what stack_tree() summarises.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "infermeter/profile/stacks/stack_trial.hpp"

namespace infermeter {

// One process: what a sample's operator is for the whole tree.
struct StackColumn {
  StackTrial trial;
  std::vector<std::optional<std::size_t>> op_of;  // by the trial's own operators; nullopt: outside
};

struct SummedNode {
  StackLevel level = StackLevel::whole;
  std::size_t what = 0;  // of its level: the kind, the operator, the function
  std::size_t merged = 0;
  std::vector<double> seconds{}, self{};  // per column
  std::map<std::pair<StackLevel, std::size_t>, std::size_t> children{};
};

struct SummedFunction {
  StackFrame frame{};
  std::vector<double> self, total, helper;   // per column; empty: never on the main thread, or never on another
  std::map<std::size_t, double> self_by_op;  // over all columns; kOutside: none
};

class StackSums {
 public:
  static constexpr std::size_t kOutside = std::numeric_limits<std::size_t>::max();

  // `kind_of`: of each operator that a column names.
  StackSums(std::vector<StackColumn> columns, std::vector<std::string> kind_of);

  std::vector<SummedNode> nodes;  // [0]: the whole, [1]: other threads
  std::vector<SummedFunction> functions;
  std::vector<std::string> kinds;
  std::vector<double> walls;  // per column
  std::size_t samples = 0;
  double main_weight = 0, tagged_weight = 0, unnamed_weight = 0;  // seconds, over all columns

 private:
  using Frames = std::vector<std::size_t>;  // of a profile's frames: the function of each

  void add_functions(const StackColumn& column);
  void merge_small_addresses();
  void add(std::size_t column);
  void add_sample(std::size_t column, const StackSample& sample, double seconds, bool is_main);
  void add_function_times(std::size_t column, const std::vector<std::size_t>& path, std::size_t op, double seconds,
                          bool is_main);
  std::size_t child(std::size_t parent, StackLevel level, std::size_t what);
  std::size_t function_of(const StackFrame& frame);
  std::size_t kind_number(const std::string& kind);
  [[nodiscard]] std::vector<std::size_t> path_of(std::size_t column, const StackSample& sample) const;

  std::vector<StackColumn> columns_;
  std::vector<std::string> kind_of_;
  std::vector<Frames> frames_;           // per column
  std::vector<std::size_t> stands_for_;  // per function: itself, or its module's
  std::map<std::string, std::size_t> by_name_;
  std::map<std::string, std::size_t> kind_numbers_;
  bool has_operators_ = false;
};

// The module's file without its folders.
[[nodiscard]] std::string_view file_of(std::string_view module);

}  // namespace infermeter
