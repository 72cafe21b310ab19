// torch.profiler's Chrome trace. What it calls an operator calls others: conv2d, convolution, _convolution,
// mkldnn_convolution. The outermost one is the operator here, so that nothing counts twice and operators and the rest
// add up to the wall time; the one inside of it that took most of the time by itself is its kernel. What has no
// namespace
// ("Torch-Compiled Region: 0/0") is no operator but a bracket around some: it is kept, and so are those in it, and what
// nests so has its own time counted once (profile/operator_times.hpp).
#include <fmt/format.h>

#include <algorithm>
#include <map>
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

constexpr std::string_view iteration_name = "infermeter_iteration", step_prefix = "ProfilerStep#",
                           module_prefix = "nn.Module: ", named_module_prefix = "infermeter_module ";

struct Call {
  TimeSpan time;
  std::uint64_t thread = 0;
  std::uint32_t text = 0;  // index into names
};
struct OpCall : Call {
  std::uint32_t shapes = 0, dtype = 0;
};
struct OpenCall {
  const OpCall* call = nullptr;
  std::int64_t inside_ns = 0;         // of those that it calls itself
  std::uint32_t placed = UINT32_MAX;  // index of the operator; UINT32_MAX: it is inside of one
  std::int64_t longest_self_ns = -1;  // of those in it
  std::uint32_t longest = 0;
};

std::string torch_dtype(std::string_view word) {
  static constexpr std::pair<std::string_view, std::string_view> names[] = {
      {"float", "float32"},    {"double", "float64"},      {"c10::Half", "float16"}, {"c10::BFloat16", "bfloat16"},
      {"long int", "int64"},   {"long", "int64"},          {"int", "int32"},         {"short", "int16"},
      {"signed char", "int8"}, {"unsigned char", "uint8"}, {"bool", "bool"}};
  for (const auto& [theirs, ours] : names)
    if (word == theirs) return std::string(ours);
  return {};
}

bool is_operator(std::string_view name) { return name.find("::") != std::string_view::npos; }

std::string_view without_namespace(std::string_view name) {
  const std::size_t at = name.rfind("::");
  return at == std::string_view::npos ? name : name.substr(at + 2);
}

auto outer_first(const Call& call) { return std::tuple(call.thread, call.time.begin_ns, -call.time.duration_ns); }

class TorchReader {
 public:
  explicit TorchReader(const Samples& trial) : iterations_(trial, std::nullopt) {}
  // Without a trial: the iterations are those that the file marks, or all of it.
  TorchReader() : iterations_({}, std::nullopt), is_foreign_(true) {}

  Result<OperatorProfile> operator()(std::string_view json) {
    scan_ = for_each_object(json, "traceEvents", [this](const Json& event) { take(event); });
    if (!scan_.found) return io_error("it is not a trace of torch.profiler: there is no list 'traceEvents'");
    INFERMETER_TRY_DONE(is_foreign_ ? take_all_runs() : find_iterations());
    std::ranges::stable_sort(calls_, {}, outer_first);
    std::ranges::stable_sort(modules_, {}, outer_first);
    for (const OpCall& call : calls_) step(call);
    close_until(INT64_MAX);
    if (placed_.empty())
      return io_error(fmt::format("torch.profiler's trace contains no operator of {}",
                                  is_foreign_ ? "its iterations" : "the timed iterations"));
    name_kernels();
    profile_.cut = !scan_.whole;
    INFERMETER_TRY_DONE(put_events(std::move(placed_), profile_));
    order_by_first_event(profile_);
    profile_.sources = {{"operators", true, detail()}};
    return std::move(profile_);
  }

  [[nodiscard]] const Samples& own_iterations() const { return own_; }

 private:
  void take(const Json& event) {
    if (text_at(event, "ph") != "X") return;
    const auto begin = nanoseconds_at(event, "ts"), duration = nanoseconds_at(event, "dur");
    if (!begin || !duration || *duration < 0) return;
    const std::string_view kind = text_at(event, "cat"), name = text_at(event, "name");
    const Call call{{*begin, *duration}, count_at(event, "tid").value_or(0), 0};
    if (kind == "user_annotation" && name == iteration_name) runs_.push_back(call);
    if (kind == "user_annotation" && name.starts_with(step_prefix)) steps_.push_back(call);
    if (kind == "kernel") ++kernels_elsewhere_;
    if (kind == "user_annotation" && name.starts_with(named_module_prefix))
      modules_.push_back({call.time, call.thread, number_of(name.substr(named_module_prefix.size()))});
    if (kind == "python_function" && name.starts_with(module_prefix))
      modules_.push_back({call.time, call.thread, number_of(name.substr(module_prefix.size()))});
    if (kind != "cpu_op") return;
    OpCall op{call, 0, 0};
    op.text = number_of(name);
    if (const Json* args = value_at(event, "args")) read_inputs(*args, op);
    calls_.push_back(op);
  }

  void read_inputs(const Json& args, OpCall& op) {
    Shapes shapes;
    if (const Json* dims = value_at(args, "Input Dims"); dims != nullptr && dims->is_array()) {
      for (const Json& list : *dims) {
        if (!list.is_array() || list.empty()) continue;
        auto& shape = shapes.emplace_back();
        for (const Json& size : list) shape.push_back(size.is_number_integer() ? size.get<std::int64_t>() : -1);
      }
    }
    op.shapes = number_of(shapes_text(shapes, {}));
    std::string dtype;
    if (const Json* types = value_at(args, "Input type"); types != nullptr && types->is_array())
      for (const Json& type : *types)
        if (dtype.empty() && type.is_string()) dtype = torch_dtype(type.get_ref<const std::string&>());
    op.dtype = number_of(dtype);
  }

  std::uint32_t number_of(std::string_view text) {
    const auto [at, is_new] = numbers_.try_emplace(std::string(text), static_cast<std::uint32_t>(names_.size()));
    if (is_new) names_.push_back(at->first);
    return at->second;
  }

  // The first one is the first that was timed; an early end may have taken some of the last one's operators.
  Result<Done> find_iterations() {
    std::ranges::sort(runs_, {}, [](const Call& run) { return run.time.begin_ns; });
    if (!scan_.whole && !runs_.empty()) runs_.pop_back();
    if (runs_.size() > iterations_.count()) {
      if (!scan_.whole) runs_.resize(iterations_.count());
      runs_.erase(runs_.begin(), runs_.end() - static_cast<std::ptrdiff_t>(iterations_.count()));
    }
    if (runs_.empty())
      return io_error(
          fmt::format("torch.profiler's trace contains no timed inference (no whole '{}')", iteration_name));
    main_ = runs_.front().thread;
    return Done{};
  }

  Result<Done> take_all_runs() {
    marked_by_ = iteration_name;
    if (runs_.empty()) runs_ = std::exchange(steps_, {}), marked_by_ = step_prefix;
    std::ranges::sort(runs_, {}, [](const Call& run) { return run.time.begin_ns; });
    if (!scan_.whole && !runs_.empty()) runs_.pop_back();
    if (runs_.empty()) runs_ = {all_of_it()}, marked_by_ = {};
    if (calls_.empty()) return io_error("torch.profiler's trace contains no operator (no event of category 'cpu_op')");
    std::vector<TimeSpan> spans;
    for (const Call& run : runs_) spans.push_back(run.time);
    INFERMETER_TRY(own_, samples_of_runs(spans));
    iterations_ = ClockedIterations(own_, 0);
    main_ = runs_.front().thread;
    return Done{};
  }

  // From the first operator's begin to the last one's end, on the thread with most of the work.
  [[nodiscard]] Call all_of_it() const {
    std::map<std::uint64_t, double> work;
    Call all;
    if (!calls_.empty()) all = calls_.front();
    std::int64_t end_ns = all.time.end_ns();
    for (const OpCall& call : calls_) {
      all.time.begin_ns = std::min(all.time.begin_ns, call.time.begin_ns);
      end_ns = std::max(end_ns, call.time.end_ns());
      work[call.thread] += static_cast<double>(call.time.duration_ns);
    }
    all.time.duration_ns = end_ns - all.time.begin_ns;
    const auto most = std::ranges::max_element(work, {}, [](const auto& thread) { return thread.second; });
    if (most != work.end()) all.thread = most->first;
    return all;
  }

  // Calls come thread by thread, and of each thread by time, the outer ones first.
  void step(const OpCall& call) {
    if (call.thread != thread_) {
      close_until(INT64_MAX);
      thread_ = call.thread;
      run_ = 0;
    }
    close_until(call.time.begin_ns);
    OpenCall open{.call = &call};
    if (!open_.empty()) open_.back().inside_ns += call.time.duration_ns;
    const bool is_inside =
        std::ranges::any_of(open_, [this](const OpenCall& o) { return is_operator(names_[o.call->text]); });
    if (!is_inside) open.placed = place(call);
    open_.push_back(open);
  }

  // UINT32_MAX: it is of no timed iteration.
  std::uint32_t place(const OpCall& call) {
    while (run_ < runs_.size() && runs_[run_].time.end_ns() < call.time.begin_ns) ++run_;
    if (run_ == runs_.size()) return UINT32_MAX;
    const TimeSpan& run = runs_[run_].time;
    if (call.time.begin_ns < run.begin_ns || call.time.end_ns() > run.end_ns()) return UINT32_MAX;
    const auto iteration = static_cast<std::uint32_t>(run_);
    if (std::exchange(counted_, {thread_, iteration}) != std::pair(thread_, iteration)) seen_.clear();
    const std::uint32_t op = operator_of(call, seen_[call.text]++);
    std::uint32_t thread = 0;
    if (call.thread != main_)
      thread = others_.try_emplace(call.thread, static_cast<std::uint32_t>(others_.size() + 1)).first->second;
    placed_.push_back({.iteration = iteration,
                       .op = op,
                       .thread = thread,
                       .begin_ns = call.time.begin_ns - iterations_.begin_of(iteration, run),
                       .duration_ns = call.time.duration_ns});
    return op;
  }

  // The n-th of that name in each iteration is the same one.
  std::uint32_t operator_of(const OpCall& call, std::uint32_t which) {
    const auto [at, is_new] =
        known_.try_emplace({call.thread, call.text, which}, static_cast<std::uint32_t>(profile_.operators.size()));
    if (!is_new) return at->second;
    ProfiledOperator& op = profile_.operators.emplace_back();
    op.name = fmt::format("{}#{}", names_[call.text], which);
    op.kind = without_namespace(names_[call.text]);
    op.shapes = names_[call.shapes];
    op.precision = names_[call.dtype];
    if (const Call* module = module_around(call)) op.origin_names = {names_[module->text]};
    kernels_.emplace_back();
    return at->second;
  }

  // The one that began last of those around it.
  [[nodiscard]] const Call* module_around(const OpCall& call) const {
    auto at = std::ranges::upper_bound(modules_, std::tuple(call.thread, call.time.begin_ns, std::int64_t{1}), {},
                                       outer_first);
    for (int looked = 0; at != modules_.begin() && looked < 1000; ++looked) {
      --at;
      if (at->thread != call.thread) break;
      if (at->time.end_ns() >= call.time.end_ns()) return &*at;
    }
    return nullptr;
  }

  // Those that end by then; each is weighed as the kernel of the operator that it is inside of.
  void close_until(std::int64_t time_ns) {
    while (!open_.empty() && open_.back().call->time.end_ns() <= time_ns) {
      OpenCall done = open_.back();
      open_.pop_back();
      const std::int64_t self_ns = done.call->time.duration_ns - done.inside_ns;
      if (self_ns >= done.longest_self_ns) done.longest_self_ns = self_ns, done.longest = done.call->text;
      if (done.placed != UINT32_MAX) {
        ++kernels_[done.placed][done.longest];
      } else if (!open_.empty() && done.longest_self_ns > open_.back().longest_self_ns) {
        open_.back().longest_self_ns = done.longest_self_ns;
        open_.back().longest = done.longest;
      }
    }
  }

  void name_kernels() {
    for (std::size_t i = 0; i < kernels_.size(); ++i) {
      const auto most = std::ranges::max_element(kernels_[i], {}, [](const auto& kernel) { return kernel.second; });
      if (most == kernels_[i].end()) continue;
      const std::string_view name = without_namespace(names_[most->first]);
      if (name != profile_.operators[i].kind) profile_.operators[i].kernel = name;
    }
  }

  [[nodiscard]] std::string whose_iterations() const {
    if (marked_by_.empty()) return "nothing in it marks iterations: all of it counts as one";
    return fmt::format("its {} iterations are the annotations '{}'", runs_.size(), marked_by_);
  }

  [[nodiscard]] std::string detail() const {
    std::string text =
        "torch.profiler's trace: operators that the program calls, with what those call counted to them; ";
    text += is_foreign_ ? whose_iterations() : "each inference is put into the middle of its iteration";
    if (kernels_elsewhere_ > 0) {
      text += fmt::format("; its {} kernels of a GPU are left out: the times are those of the calling processor",
                          kernels_elsewhere_);
    }
    if (!scan_.whole) text += "; the file ends early";
    if (scan_.unreadable > 0) text += fmt::format("; {} of its events cannot be read", scan_.unreadable);
    return text;
  }

  ClockedIterations iterations_;
  bool is_foreign_ = false;
  Samples own_;                 // the iterations, where it is foreign
  std::string_view marked_by_;  // what those are; empty: nothing marks them
  std::size_t kernels_elsewhere_ = 0;
  ArrayScan scan_;
  std::vector<Call> runs_, steps_, modules_;
  std::vector<OpCall> calls_;
  std::vector<std::string> names_;
  std::map<std::string, std::uint32_t, std::less<>> numbers_;

  std::uint64_t main_ = 0, thread_ = 0;
  std::size_t run_ = 0;
  std::vector<OpenCall> open_;
  std::pair<std::uint64_t, std::uint32_t> counted_{UINT64_MAX, UINT32_MAX};
  std::map<std::uint32_t, std::uint32_t> seen_;  // of each name, in this iteration and thread
  std::map<std::uint64_t, std::uint32_t> others_;
  std::map<std::tuple<std::uint64_t, std::uint32_t, std::uint32_t>, std::uint32_t> known_;
  // By operator: in how many calls that name took longest. Not by time: one call that was interrupted would decide.
  std::vector<std::map<std::uint32_t, std::uint32_t>> kernels_;
  std::vector<PlacedEvent> placed_;
  OperatorProfile profile_;
};

}  // namespace

Result<OperatorProfile> parse_torch_trace(std::string_view json, const Samples& trial) {
  return TorchReader(trial)(json);
}

Result<SelfTimedProfile> import_torch_trace(std::string_view json) {
  TorchReader reader;
  INFERMETER_TRY(OperatorProfile profile, reader(json));
  return self_timed(reader.own_iterations(), std::move(profile));
}

}  // namespace infermeter
