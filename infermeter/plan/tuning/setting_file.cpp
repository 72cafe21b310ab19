#include "infermeter/plan/tuning/setting_file.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <sstream>

#include "infermeter/plan/file_variables.hpp"
#include "infermeter/plan/subject.hpp"
#include "infermeter/text/quoted.hpp"

namespace infermeter {
namespace {

toml::table table_of(const Pairs& pairs) {
  toml::table table;
  for (const auto& [name, value] : pairs) table.insert_or_assign(name, value);
  return table;
}

void add_pairs(toml::table& table, const char* key, const Pairs& pairs) {
  if (!pairs.empty()) table.insert_or_assign(key, table_of(pairs));
}

// Of all inputs, or of some.
void add_batch_axes(toml::table& table, const Pairs& axes) {
  if (axes.size() == 1 && axes.front().first.empty()) {
    table.insert_or_assign("batch_axis", axes.front().second);
  } else {
    add_pairs(table, "batch_axis", axes);
  }
}

bool is_for_command_line(const Pairs::value_type& variable) { return !may_come_from_file(variable.first); }

toml::table subject_table(const Subject& subject) {
  const Subject usual;
  toml::table table{{"model", subject.model},
                    {"backend", subject.backend},
                    {"batch_size", subject.batch_size},
                    {"dtype", std::string(to_string(subject.dtype))},
                    {"threads", subject.threads}};
  if (subject.device != usual.device) table.insert_or_assign("device", subject.device);
  if (!subject.backend_library.empty()) table.insert_or_assign("backend_library", subject.backend_library);
  Pairs environment = subject.environment;
  std::erase_if(environment, is_for_command_line);
  add_pairs(table, "dimensions", subject.dimensions);
  add_batch_axes(table, subject.batch_axes);
  add_pairs(table, "options", subject.options);
  add_pairs(table, "load", subject.load);
  add_pairs(table, "env", environment);
  return table;
}

void add_data(toml::table& table, const DataRequest& data) {
  const DataRequest usual;
  if (data.source != usual.source) table.insert_or_assign("data", data.source);
  if (data.limit != usual.limit) table.insert_or_assign("data_limit", data.limit);
  if (data.seed != usual.seed) table.insert_or_assign("data_seed", static_cast<std::int64_t>(data.seed));
  if (!data.labels.empty()) table.insert_or_assign("labels", data.labels);
  if (data.distributions.size() == 1 && data.distributions.front().first.empty()) {
    table.insert_or_assign("distribution", data.distributions.front().second);
  } else {
    add_pairs(table, "distribution", data.distributions);
  }
}

}  // namespace

std::string setting_file(const Plan& plan, std::size_t subject) {
  toml::table root;
  add_data(root, plan.data);
  if (!plan.cpus.empty()) {
    toml::array cpus;
    for (const int cpu : plan.cpus) cpus.push_back(cpu);
    root.insert_or_assign("cpus", std::move(cpus));
  }
  root.insert_or_assign("subject", toml::array{subject_table(plan.subjects.at(subject))});
  std::ostringstream text;
  for (const auto& [name, value] : plan.subjects.at(subject).environment) {
    if (may_come_from_file(name)) continue;
    text << fmt::format("# It was measured with --env {}=…, which a file may not set: give it again.\n",
                        printable(name, 80));
  }
  text << root << '\n';
  return std::move(text).str();
}

}  // namespace infermeter
