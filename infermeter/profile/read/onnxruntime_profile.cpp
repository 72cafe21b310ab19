// ONNX Runtime's profile: an array of trace events. Every operator that ran is one of category "Node" whose name ends
// with "_kernel_time"; a "model_run" encloses those of one inference. Times are whole microseconds since the session
// began to profile (onnxruntime/core/common/profiler.cc).
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "infermeter/profile/read/compiled_nodes.hpp"
#include "infermeter/profile/read/imported_profile.hpp"
#include "infermeter/profile/read/json_events.hpp"
#include "infermeter/profile/read/profile_events.hpp"
#include "infermeter/profile/read/profile_files.hpp"

namespace infermeter {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kernel_suffix = "_kernel_time";
// It records no more (onnxruntime/core/common/profiler.h: max_num_events_).
constexpr std::size_t most_recorded = 1'000'000;
// Begins and durations are both cut to microseconds.
constexpr std::int64_t rounding_ns = 2'000;

struct NodeEvent {
  TimeSpan time;
  std::uint32_t op = 0;
  std::uint64_t thread = 0;
};
struct OnnxRuntimeOperator {
  ProfiledOperator record;
  Shapes inputs, outputs;
  std::uint64_t node_index = 0;
};

std::string onnxruntime_dtype(std::string_view word) {
  if (word == "float") return "float32";
  if (word == "double") return "float64";
  return std::string(word);
}

// [{"float":[1,64]},{"int64":[2]}]; what is no tensor is passed over.
void read_shapes(const Json* list, Shapes& shapes, std::vector<std::string>& dtypes) {
  if (list == nullptr || !list->is_array()) return;
  for (const Json& value : *list) {
    if (!value.is_object() || value.size() != 1 || !value.begin()->is_array()) continue;
    dtypes.push_back(onnxruntime_dtype(value.begin().key()));
    auto& shape = shapes.emplace_back();
    for (const Json& size : *value.begin()) shape.push_back(size.is_number_integer() ? size.get<std::int64_t>() : -1);
  }
}

// What it computes in: of products that quantise their own input int8; otherwise the first type of its inputs, and then
// of its outputs, that is one of numbers and not of indices or conditions; where all are, the first.
std::string computed_precision(std::string_view kind, const std::vector<std::string>& dtypes) {
  if (kind == "DynamicQuantizeMatMul" || kind == "DynamicQuantizeLSTM") return "int8";
  const auto is_of_numbers = [](const std::string& dtype) {
    return dtype != "bool" && dtype != "int32" && dtype != "int64" && dtype != "string";
  };
  const auto found = std::ranges::find_if(dtypes, is_of_numbers);
  if (found != dtypes.end()) return *found;
  return dtypes.empty() ? std::string() : dtypes.front();
}

class OnnxRuntimeReader {
 public:
  OnnxRuntimeReader(const Samples& trial, std::optional<std::int64_t> ahead_ns) : iterations_(trial, ahead_ns) {}
  // Without a trial: the iterations are all inferences of the file.
  OnnxRuntimeReader() : iterations_({}, std::nullopt), is_foreign_(true) {}

  Result<OperatorProfile> operator()(std::string_view json, const ModelGraph* compiled) {
    scan_ = for_each_object(json, "", [this](const Json& event) { take(event); });
    if (!scan_.found || scan_.objects == 0)
      return io_error("it is not a profile of ONNX Runtime: there is no list of events");
    if (runs_.empty()) return io_error("ONNX Runtime's profile contains no inference (no 'model_run' event)");
    std::ranges::sort(runs_, {}, &TimeSpan::begin_ns);
    INFERMETER_TRY_DONE(is_foreign_ ? take_all_runs() : find_iterations());
    profile_.cut = !scan_.whole || scan_.objects >= most_recorded;
    const bool one_thread = place_events();
    if (placed_.empty())
      return io_error(fmt::format("ONNX Runtime's profile contains no operator of {}",
                                  is_foreign_ ? "its inferences" : "the timed iterations"));
    number_operators(one_thread, compiled);
    INFERMETER_TRY_DONE(put_events(std::move(placed_), profile_));
    if (one_thread) order_by_first_event(profile_);
    profile_.sources = {{"operators", true, detail()}};
    return std::move(profile_);
  }

  [[nodiscard]] const Samples& own_iterations() const { return own_; }

 private:
  void take(const Json& event) {
    const std::string_view name = text_at(event, "name");
    const auto begin = nanoseconds_at(event, "ts"), duration = nanoseconds_at(event, "dur");
    if (!begin || !duration || *begin < 0 || *duration < 0) return;
    const TimeSpan time{*begin, *duration};
    if (name == "model_run" && text_at(event, "cat") == "Session") runs_.push_back(time);
    if (!name.ends_with(kernel_suffix) || text_at(event, "cat") != "Node") return;
    const Json* args = value_at(event, "args");
    static const Json none = Json::object();
    if (args == nullptr) args = &none;
    events_.push_back({time, operator_of(name.substr(0, name.size() - kernel_suffix.size()), *args),
                       count_at(event, "tid").value_or(0)});
  }

  // Names are unique in a graph, not among a graph and its subgraphs.
  std::uint32_t operator_of(std::string_view name, const Json& args) {
    const std::uint64_t index = count_at(args, "node_index").value_or(0);
    const std::string_view kind = text_at(args, "op_name");
    const auto [at, is_new] = known_.try_emplace({std::string(name), std::string(kind), index},
                                                 static_cast<std::uint32_t>(operators_.size()));
    if (is_new) {
      OnnxRuntimeOperator& made = operators_.emplace_back();
      made.node_index = index;
      made.record.name = name;
      made.record.kind = kind;
      made.record.provider = text_at(args, "provider");
      made.record.activation_bytes = count_at(args, "activation_size");
      made.record.parameter_bytes = count_at(args, "parameter_size");
      made.record.output_bytes = count_at(args, "output_size");
      std::vector<std::string> dtypes;
      read_shapes(value_at(args, "input_type_shape"), made.inputs, dtypes);
      read_shapes(value_at(args, "output_type_shape"), made.outputs, dtypes);
      made.record.precision = computed_precision(kind, dtypes);
    }
    ProfiledOperator& record = operators_[at->second].record;
    keep_highest(record.arena_peak_bytes, count_at(args, "mem_in_use_peak"));
    keep_highest(record.arena_in_use_bytes, count_at(args, "mem_bytes_in_use"));
    return at->second;
  }

  static void keep_highest(std::optional<std::uint64_t>& kept, const std::optional<std::uint64_t>& reported) {
    if (reported) kept = std::max(kept.value_or(0), *reported);
  }

  // Which run is which iteration: by time, where the clocks are joined; else the last ones, which needs the end.
  Result<Done> find_iterations() {
    run_of_.assign(iterations_.count(), SIZE_MAX);
    bool any = false;
    if (iterations_.joined()) {
      for (std::size_t i = 0, run = 0; i < iterations_.count(); ++i) {
        const TimeSpan wall = iterations_.at(i);
        const auto middle = [&](std::size_t r) { return runs_[r].begin_ns + runs_[r].duration_ns / 2; };
        while (run < runs_.size() && middle(run) < wall.begin_ns) ++run;
        if (run == runs_.size()) break;
        if (middle(run) <= wall.end_ns()) run_of_[i] = run++, any = true;
      }
    }
    if (any) return Done{};
    if (!scan_.whole || scan_.objects >= most_recorded)
      return io_error("ONNX Runtime's profile ends early, and nothing shows which of its inferences were timed");
    if (runs_.size() < run_of_.size() || run_of_.empty())
      return io_error(fmt::format("ONNX Runtime's profile contains {} inferences, fewer than the {} that were timed",
                                  runs_.size(), run_of_.size()));
    for (std::size_t i = 0; i < run_of_.size(); ++i) run_of_[i] = runs_.size() - run_of_.size() + i;
    return Done{};
  }

  Result<Done> take_all_runs() {
    for (std::size_t run = 1; run < runs_.size(); ++run) {
      if (runs_[run].begin_ns + rounding_ns < runs_[run - 1].end_ns())
        return io_error(
            "ONNX Runtime's profile contains inferences that overlap, so that nothing shows whose operators are whose: "
            "profile a session that runs one at a time");
    }
    INFERMETER_TRY(own_, samples_of_runs(runs_));
    iterations_ = ClockedIterations(own_, 0);
    for (std::size_t run = 0; run < runs_.size(); ++run) run_of_.push_back(run);
    return Done{};
  }

  // The one with most of the work: with execution_mode=parallel that need not be the one that calls.
  [[nodiscard]] std::uint64_t main_thread() const {
    std::map<std::uint64_t, double> work;
    for (const NodeEvent& event : events_) work[event.thread] += static_cast<double>(event.time.duration_ns);
    const auto most = std::ranges::max_element(work, {}, [](const auto& thread) { return thread.second; });
    return most == work.end() ? 0 : most->first;
  }

  // Says whether all of them are of the thread that runs the model.
  bool place_events() {
    std::vector<std::uint32_t> iteration_of(runs_.size(), UINT32_MAX);
    for (std::size_t i = 0; i < run_of_.size(); ++i)
      if (run_of_[i] != SIZE_MAX) iteration_of[run_of_[i]] = static_cast<std::uint32_t>(i);
    std::ranges::stable_sort(
        events_, {}, [](const NodeEvent& event) { return std::tuple(event.time.begin_ns, -event.time.duration_ns); });
    const std::uint64_t main = main_thread();
    std::map<std::uint64_t, std::uint32_t> others;
    std::size_t run = 0;
    for (const NodeEvent& event : events_) {
      while (run + 1 < runs_.size() && runs_[run + 1].begin_ns <= event.time.begin_ns) ++run;
      const TimeSpan& of = runs_[run];
      if (event.time.begin_ns < of.begin_ns || event.time.end_ns() > of.end_ns() + rounding_ns) continue;
      if (iteration_of[run] == UINT32_MAX) continue;
      std::uint32_t thread = 0;
      if (event.thread != main)
        thread = others.try_emplace(event.thread, static_cast<std::uint32_t>(others.size() + 1)).first->second;
      placed_.push_back({.iteration = iteration_of[run],
                         .op = event.op,
                         .thread = thread,
                         .begin_ns = event.time.begin_ns - iterations_.begin_of(iteration_of[run], of),
                         .duration_ns = event.time.duration_ns});
    }
    return others.empty();
  }

  // Several threads do not always come to the same order, trials are compared by it: the graph's numbers then give one.
  void number_operators(bool one_thread, const ModelGraph* compiled) {
    std::vector<std::uint32_t> order(operators_.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    if (!one_thread) std::ranges::stable_sort(order, {}, [this](std::uint32_t i) { return operators_[i].node_index; });
    std::vector<std::uint32_t> place(order.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) {
      place[order[i]] = i;
      profile_.operators.push_back(std::move(operators_[order[i]].record));
    }
    for (PlacedEvent& event : placed_) event.op = place[event.op];
    std::vector<std::size_t> nodes(order.size(), SIZE_MAX);
    if (compiled != nullptr) nodes = match_nodes(profile_.operators, *compiled);
    for (std::size_t i = 0; i < order.size(); ++i) {
      OnnxRuntimeOperator& op = operators_[order[i]];
      if (nodes[i] != SIZE_MAX)
        describe_by_node(profile_.operators[i], compiled->nodes[nodes[i]], *compiled, op.inputs);
      profile_.operators[i].shapes = shapes_text(op.inputs, op.outputs);
    }
  }

  [[nodiscard]] std::string detail() const {
    std::string text = "ONNX Runtime's profile, in whole microseconds";
    if (is_foreign_) text += fmt::format(", of all its {} inferences, the first ones too", runs_.size());
    if (!iterations_.joined())
      text += "; its clock is not known, so each inference is put into the middle of its iteration";
    if (scan_.objects >= most_recorded) text += fmt::format("; it records {} events, and no more", most_recorded);
    if (!scan_.whole) text += "; the file ends early";
    if (scan_.unreadable > 0) text += fmt::format("; {} of its events cannot be read", scan_.unreadable);
    return text;
  }

  ClockedIterations iterations_;
  bool is_foreign_ = false;
  Samples own_;  // the inferences, where it is foreign
  ArrayScan scan_;
  std::vector<TimeSpan> runs_;
  std::vector<NodeEvent> events_;
  std::vector<OnnxRuntimeOperator> operators_;
  std::map<std::tuple<std::string, std::string, std::uint64_t>, std::uint32_t> known_;
  std::vector<std::size_t> run_of_;  // by iteration; SIZE_MAX: not recorded
  std::vector<PlacedEvent> placed_;
  OperatorProfile profile_;
};

}  // namespace

Result<OperatorProfile> parse_onnxruntime_profile(std::string_view json, const ModelGraph* compiled,
                                                  const Samples& trial, std::optional<std::int64_t> start_ns) {
  std::optional<std::int64_t> ahead;
  const auto realtime_ahead = steady_realtime_ahead_ns(trial);
  if (realtime_ahead && start_ns && is_near(*start_ns)) ahead = *realtime_ahead - *start_ns;
  return OnnxRuntimeReader(trial, ahead)(json, compiled);
}

Result<SelfTimedProfile> import_onnxruntime_profile(std::string_view json, const ModelGraph* compiled) {
  OnnxRuntimeReader reader;
  INFERMETER_TRY(OperatorProfile profile, reader(json, compiled));
  return self_timed(reader.own_iterations(), std::move(profile));
}

}  // namespace infermeter
