// Shards: whole blocks of a run that are measured on one node of a cluster, so that what is compared is measured side
// by side there (docs/fleet.md).
#pragma once

#include <string>
#include <vector>

#include "infermeter/plan/plan.hpp"
#include "infermeter/samples/environment.hpp"
#include "infermeter/samples/node_facts.hpp"
#include "infermeter/samples/samples.hpp"
#include "infermeter/verdict/run_record.hpp"

namespace infermeter {

struct Shard {
  int number = 1;      // from 1 to count
  int count = 1;       // of all shards of the run
  std::string node{};  // what the machine is called that measures it: "n12"
};

// The shard, from 1 to `count`, that measures a block (Samples::process) of the plan. Neighbouring blocks are together,
// so that the squares of the order (order_trials) stay whole where they can; numbers of blocks differ by one at most.
[[nodiscard]] int shard_of_block(const Plan& plan, int block, int count);

// Where a trial of a shard ran: the node's name and the fingerprint of its machine (samples/node_facts.hpp).
void note_node(const RunRecord& record, const Shard& shard, Samples& trial);

// Blocks that are whole: a trial of every subject has ended, all of them on one node. Ascending.
[[nodiscard]] std::vector<int> whole_blocks(const RunRecord& record);

// Of blocks that were begun on another node and are not whole: the positions of their trials, which `record` loses. Of
// a race all trials, if any of them is of another node: who goes on was chosen by them.
[[nodiscard]] std::vector<int> drop_half_blocks(RunRecord& record, const Shard& shard);

// What was measured on a node says where: the record's environment becomes the node's, and that is among its nodes.
void enter_node(Environment& environment, Environment node);

}  // namespace infermeter
