#include "infermeter/run/shard.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace infermeter {
namespace {

struct BlockState {
  std::set<int> subjects;  // whose trial has ended
  std::set<std::string> nodes;
};

std::map<int, BlockState> state_of_blocks(const RunRecord& record) {
  std::map<int, BlockState> blocks;
  for (const Samples& trial : record.trials) {
    BlockState& block = blocks[trial.process];
    block.nodes.insert(trial.executed_value(kNodeKey));
    if (trial.end != TrialEnd::interrupted) block.subjects.insert(trial.subject);
  }
  return blocks;
}

bool is_whole(const RunRecord& record, const BlockState& block) {
  return block.nodes.size() == 1 && block.subjects.size() == record.plan.subjects.size();
}

}  // namespace

int shard_of_block(const Plan& plan, int block, int count) {
  const int blocks = std::max(plan.processes, 1);
  if (count < 1 || block < 0) return 1;
  if (block >= blocks) return count;
  // The first `larger` shards have one block more than the others.
  const int size = blocks / count, larger = blocks % count;
  const int in_larger = larger * (size + 1);
  if (block < in_larger) return block / (size + 1) + 1;
  return larger + (block - in_larger) / std::max(size, 1) + 1;
}

void note_node(const RunRecord& record, const Shard& shard, Samples& trial) {
  const auto node = std::ranges::find(record.environment.nodes, shard.node, &Environment::hostname);
  trial.executed.emplace_back(kNodeKey, shard.node);
  if (node != record.environment.nodes.end()) trial.executed.emplace_back(kMachineKey, machine_fingerprint(*node));
}

std::vector<int> whole_blocks(const RunRecord& record) {
  std::vector<int> whole;
  for (const auto& [number, block] : state_of_blocks(record))
    if (is_whole(record, block)) whole.push_back(number);
  return whole;
}

std::vector<int> drop_half_blocks(RunRecord& record, const Shard& shard) {
  const auto blocks = state_of_blocks(record);
  const auto is_of_another = [&](const Samples& trial) { return trial.executed_value(kNodeKey) != shard.node; };
  const bool begins_anew = record.plan.tuning && std::ranges::any_of(record.trials, is_of_another);
  std::vector<int> positions;
  std::erase_if(record.trials, [&](const Samples& trial) {
    const BlockState& block = blocks.at(trial.process);
    const bool is_worth_it = is_whole(record, block) || block.nodes == std::set<std::string>{shard.node};
    const bool stays = !begins_anew && (is_worth_it || record.plan.tuning);
    if (!stays) positions.push_back(trial.position);
    return !stays;
  });
  return positions;
}

void enter_node(Environment& environment, Environment node) {
  std::vector<Environment> nodes = std::exchange(environment.nodes, {});
  node.command = environment.command;
  node.git_commit = environment.git_commit;
  node.nodes.clear();
  const auto known = std::ranges::find(nodes, node.hostname, &Environment::hostname);
  if (known == nodes.end()) {
    nodes.push_back(node);
  } else {
    *known = node;
  }
  environment = std::move(node);
  environment.nodes = std::move(nodes);
}

}  // namespace infermeter
