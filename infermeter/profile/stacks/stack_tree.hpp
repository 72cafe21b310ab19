// Sampled stacks of profile trials -> a tree of mean seconds per inference, with intervals over processes. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "infermeter/profile/explain/explanation.hpp"
#include "infermeter/profile/stacks/stack_trial.hpp"
#include "infermeter/samples/stack_profile.hpp"

namespace infermeter {

struct StackNode {
  std::optional<std::size_t> parent;  // its place, which is before its own
  StackLevel level = StackLevel::frame;
  std::string kind{};                     // of a kind
  std::optional<std::size_t> op{};        // of an operator: into StackTrials::operators; of a group: of the groups
  std::optional<std::size_t> function{};  // of a frame
  std::size_t merged = 0;                 // how many it stands for
  // Per inference: its own and all beneath it; its own alone. Of a difference: B - A.
  double mean_s = 0, self_s = 0;
  // 95 % t interval over processes, or pairs of them; of a time from 0 on, of a difference not. nullopt: fewer than 2.
  std::optional<double> low_s{}, high_s{};
  double a_s = 0, b_s = 0;  // of a difference: either side
  bool separable = false;   // of a difference: beyond 0 after Holm's correction over all nodes
};

// Where a function's own time is spent.
struct StackPlace {
  std::string kind;               // of operators; empty: outside of them
  std::optional<std::size_t> op;  // where it is one operator alone
  std::size_t operators = 0;
  double self_s = 0;
};

struct StackFunction {
  StackFrame frame;   // the module without folders; no offset: all addresses of the module that are small
  double self_s = 0;  // per inference, of the main thread; the next two too
  std::optional<double> low_s{}, high_s{};
  double total_s = 0;                // with what it calls; of recursion once
  double share = 0;                  // self_s of the wall time
  double helper_s = 0;               // own time on other threads
  std::vector<StackPlace> places{};  // largest first, a few
};

struct StackTree {
  std::string method, detail;
  bool is_python = false;
  bool is_time = false;       // samples weigh seconds; else shares of the wall time are made of their weights
  std::size_t processes = 0;  // or pairs of them
  std::size_t left_out = 0;   // trials without samples, of other operators or without a partner
  std::size_t samples = 0;
  double wall_s = 0;                                  // mean of a profiled inference; of a difference: B - A
  double tagged_share = 0;                            // of the main thread's samples: those with an operator
  double unnamed_share = 0;                           // those whose innermost frame has no symbol
  std::optional<double> clean_p50_s, profiled_p50_s;  // as OperatorTable's
  bool distorted = false;
  std::vector<StackNode> nodes;          // parents before children, siblings by size; [0]: the whole. Empty: nothing
  std::vector<StackFunction> functions;  // by self_s; those that the nodes name, and the hottest
};

// Iterations count all, not the faster half alone: samples are few, and their time is that of the processor.
[[nodiscard]] StackTree stack_tree(const StackTrials& trials);
// B - A, by pairs of processes of the same number. A function is the same where its name is, whatever its module.
// `groups`: Explanation::groups; operators stand together as they do there.
[[nodiscard]] StackTree stack_difference(const StackTrials& a, const StackTrials& b,
                                         std::span<const GroupDifference> groups);

}  // namespace infermeter
