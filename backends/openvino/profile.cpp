#include "profile.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <unordered_map>
#include <utility>

#include "sdk/second_part.hpp"

namespace infermeter {
namespace {

// Of a reading that is called from the timed loop's gaps: nothing may be thrown through it.
struct Sentence {
  std::array<char, 600> text{};
  imb_message message{text.data(), text.size()};
};

const Part* part_for(const Library& library, std::string& reason) {
  static const char here = 0;
  const SecondPart opened = open_beside(&here, "libinfermeter_openvino.so");
  if (opened.handle == nullptr) {
    reason = "this back end has no part for OpenVINO " + library.version;
    return nullptr;
  }
  const auto table = reinterpret_cast<const Part* (*)()>(dlsym(opened.handle, "openvino_part"));
  const Part* const part = table != nullptr ? table() : nullptr;
  if (part != nullptr && part->version == library.version) return part;
  reason = "this back end was built with OpenVINO " + std::string(part != nullptr ? part->version : "of another kind") +
           ", and " + library.version + " is in use";
  return nullptr;
}

bool begins_differ(const std::vector<Counter>& a, const std::vector<Counter>& b) {
  return !std::ranges::equal(a, b, {}, &Counter::begin_us, &Counter::begin_us);
}

OperatorsFile::Operator operator_of(const Counter& row) {
  OperatorsFile::Operator reported;
  reported.name = row.name;
  reported.kind = row.kind;
  reported.kernel = row.kernel;
  return reported;
}

OperatorsFile::Operator operator_of(GraphNode&& node) {
  return {.name = std::move(node.name),
          .kind = std::move(node.kind),
          .kernel = std::move(node.kernel),
          .precision = std::move(node.precision),
          .layout = std::move(node.layout),
          .shapes = std::move(node.shapes),
          .provider = "",
          .origin_names = std::move(node.origin_names),
          .inputs = std::move(node.inputs),
          .outputs = std::move(node.outputs)};
}

// The graph's nodes in order of execution, which have the counters' names, then what only the counters know. A node
// that is never executed (a reshape in place) stays: it stands for nodes of the model.
std::vector<std::uint32_t> list_operators(OperatorsFile& file, std::vector<GraphNode> nodes,
                                          const std::vector<Counter>& rows, const std::vector<bool>& has_run) {
  std::unordered_map<std::string, std::size_t> row_named;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto [place, is_new] = row_named.emplace(rows[i].name, i);
    if (!is_new && has_run[i] && !has_run[place->second]) place->second = i;
  }
  constexpr std::uint32_t none = UINT32_MAX;
  std::vector<std::uint32_t> op_of_row(rows.size(), none);
  const auto add = [&file](OperatorsFile::Operator&& made) {
    file.operators.push_back(std::move(made));
    return static_cast<std::uint32_t>(file.operators.size() - 1);
  };
  for (GraphNode& node : nodes) {
    const auto row = row_named.find(node.name);
    if (row == row_named.end()) {
      if (!node.is_port) add(operator_of(std::move(node)));
      continue;
    }
    if (node.is_port && !has_run[row->second]) continue;
    node.kind = rows[row->second].kind;
    op_of_row[row->second] = add(operator_of(std::move(node)));
  }
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (op_of_row[i] == none && has_run[i]) op_of_row[i] = add(operator_of(rows[i]));
  return op_of_row;
}

}  // namespace

Profile::Profile(const Library& library, std::string folder) : library_(library), folder_(std::move(folder)) {
  part_ = part_for(library, why_no_part_);
}

std::vector<Counter> Profile::counters_of(const ov_infer_request_t* request) const {
  std::vector<Counter> rows;
  if (part_ != nullptr) {
    Sentence sentence;
    const imb_status status = part_->read_counters(request, rows, sentence.message);
    if (status != IMB_OK) fail(status, "OpenVINO did not report its counters: " + std::string(sentence.text.data()));
    return rows;
  }
  const Api& api = library_.api;
  ov_profiling_info_list_t list{};
  check(api, api.ov_infer_request_get_profiling_info(request, &list), IMB_RUN_ERROR,
        "OpenVINO did not report its counters");
  for (std::size_t i = 0; i < list.size; ++i) {
    const ov_profiling_info_t& row = list.profiling_infos[i];
    rows.push_back({.name = row.node_name,
                    .kind = row.node_type,
                    .kernel = row.exec_type,
                    .begin_us = 0,
                    .mean_us = row.real_time});
  }
  api.ov_profiling_info_list_free(&list);
  return rows;
}

void Profile::begin(const ov_infer_request_t* request) {
  runs_.clear();
  events_ = 0;
  is_cut_ = false;
  failure_.clear();
  if (request == nullptr) fail(IMB_INVALID_ARGUMENT, "there is no request whose counters could be read");
  rows_ = counters_of(request);
  has_begins_ = std::ranges::any_of(rows_, [](const Counter& row) { return row.begin_us > 0; });
  is_recording_ = true;
}

void Profile::mark_end() noexcept {
  if (is_recording_) end_ = std::chrono::system_clock::now();
}

void Profile::note(const ov_infer_request_t* request) {
  if (!is_recording_ || !has_begins_ || is_cut_ || !failure_.empty()) return;
  try {
    read(request);
  } catch (const Failure& failure) {
    failure_ = failure.message;
  }
}

void Profile::read(const ov_infer_request_t* request) {
  std::vector<Counter> now = counters_of(request);
  if (now.size() != rows_.size()) fail(IMB_RUN_ERROR, "OpenVINO's counters became others from one run to the next");
  if (!begins_differ(now, rows_)) return;
  std::vector<std::uint32_t> ran;
  for (std::uint32_t i = 0; i < now.size(); ++i)
    if (now[i].begin_us != rows_[i].begin_us) ran.push_back(i);
  is_cut_ = events_ + ran.size() > most_operator_events;
  if (is_cut_) return;
  // In the order of the rows where two have the same microsecond: that is the order of execution.
  std::ranges::stable_sort(ran, {}, [&now](std::uint32_t i) { return now[i].begin_us; });
  Run& run = runs_.emplace_back();
  for (const std::uint32_t i : ran) run.begin_us.push_back(now[i].begin_us);
  const auto end_us = std::chrono::duration_cast<std::chrono::microseconds>(end_.time_since_epoch()).count();
  run.last_us = std::max<std::int64_t>(end_us - run.begin_us.back(), 0);
  events_ += ran.size();
  run.row = std::move(ran);
  rows_ = std::move(now);
}

std::vector<GraphNode> Profile::graph_of(const ov_compiled_model_t* compiled) {
  std::vector<GraphNode> nodes;
  why_no_graph_ = why_no_part_;
  if (part_ == nullptr) return nodes;
  Sentence sentence;
  if (part_->read_graph(compiled, nodes, sentence.message) != IMB_OK) {
    why_no_graph_ = "OpenVINO did not report its graph: " + std::string(sentence.text.data());
    nodes.clear();
  }
  return nodes;
}

// No other operator begins when the last one ends; the run ends a little later. How much later is what the ends of all
// runs lie beyond the mean that OpenVINO reports for that operator.
std::vector<std::int64_t> Profile::last_durations_us() const {
  std::vector<std::int64_t> durations;
  for (const Run& run : runs_) durations.push_back(run.last_us);
  if (durations.empty()) return durations;
  std::vector<std::int64_t> sorted = durations;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::ranges::nth_element(sorted, middle);
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    const std::int64_t after = std::max<std::int64_t>(*middle - rows_[runs_[i].row.back()].mean_us, 0);
    durations[i] = std::max<std::int64_t>(durations[i] - after, 0);
  }
  return durations;
}

void Profile::add_events(OperatorsFile& file, const std::vector<std::uint32_t>& op_of_row) const {
  const std::vector<std::int64_t> last_us = last_durations_us();
  for (std::uint32_t k = 0; k < runs_.size(); ++k) {
    const Run& run = runs_[k];
    for (std::size_t i = 0; i < run.row.size(); ++i) {
      const bool is_last = i + 1 == run.row.size();
      file.iteration.push_back(k);
      file.op.push_back(op_of_row[run.row[i]]);
      file.thread.push_back(0);
      file.begin_ns.push_back(run.begin_us[i] * 1000);
      file.duration_ns.push_back((is_last ? last_us[k] : run.begin_us[i + 1] - run.begin_us[i]) * 1000);
    }
  }
}

void Profile::add_means(OperatorsFile& file, const std::vector<std::uint32_t>& op_of_row) const {
  file.mean_ns.assign(file.operators.size(), 0.0);
  file.mean_calls.assign(file.operators.size(), 0.0);
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (rows_[i].mean_us == 0) continue;
    file.mean_ns[op_of_row[i]] = static_cast<double>(rows_[i].mean_us) * 1e3;
    file.mean_calls[op_of_row[i]] = 1.0;
  }
}

std::vector<bool> Profile::rows_that_ran() const {
  std::vector<bool> has_run(rows_.size(), false);
  for (const Run& run : runs_)
    for (const std::uint32_t row : run.row) has_run[row] = true;
  for (std::size_t i = 0; i < rows_.size(); ++i)
    if (!has_begins_ && rows_[i].mean_us > 0) has_run[i] = true;
  return has_run;
}

std::string Profile::source() const {
  const std::string counters = "OpenVINO " + library_.version + "'s counters";
  if (has_begins_) return counters + ", an operator lasting until the next one begins";
  return counters + ", which are means of all runs since the model was compiled: " +
         (why_no_part_.empty() ? "this device does not report when an operator began" : why_no_part_);
}

void Profile::end(const ov_infer_request_t* request, const ov_compiled_model_t* compiled) {
  if (!is_recording_) fail(IMB_INVALID_ARGUMENT, "no profile was begun");
  if (request != nullptr) note(request);
  is_recording_ = false;
  if (!failure_.empty()) fail(IMB_RUN_ERROR, failure_);
  if (!has_begins_ && request != nullptr) rows_ = counters_of(request);

  OperatorsFile file;
  file.source = source();
  file.iterations = runs_.size();
  file.cut = is_cut_;
  std::vector<GraphNode> nodes = graph_of(compiled);
  const bool has_graph = !nodes.empty();
  file.sources = {{"graph", has_graph, has_graph ? "OpenVINO's runtime model" : why_no_graph_}};
  const std::vector<bool> has_run = rows_that_ran();
  const auto op_of_row = list_operators(file, std::move(nodes), rows_, has_run);
  if (has_begins_) {
    add_events(file, op_of_row);
  } else {
    add_means(file, op_of_row);
  }
  write_operators(file, folder_);
}

}  // namespace infermeter
