// operators.json (docs/schema/operators.schema.json).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "infermeter/diagnostics/json_fields.hpp"
#include "infermeter/profile/read/imported_profile.hpp"
#include "infermeter/profile/read/profile_events.hpp"
#include "infermeter/profile/read/profile_files.hpp"

namespace infermeter {
namespace {

// Five numbers for each event that is kept, and names: more than that is not what it is for.
constexpr std::size_t most_bytes = std::size_t{64} << 20U;
constexpr std::size_t most_listed_operators = 100'000, most_sources = 16;

struct ListedOperator {
  ProfiledOperator record;
};
struct Source {
  std::string name, detail;
  bool available = false;
};
struct EventFields {
  std::vector<std::uint32_t> iteration, op, thread;
  std::vector<std::int64_t> begin_ns, duration_ns;
  [[nodiscard]] std::size_t shortest() const {
    return std::min({iteration.size(), op.size(), thread.size(), begin_ns.size(), duration_ns.size()});
  }
  [[nodiscard]] std::size_t longest() const {
    return std::max({iteration.size(), op.size(), thread.size(), begin_ns.size(), duration_ns.size()});
  }
};
struct Means {
  std::vector<double> duration_ns, calls;
};
struct OperatorsFile {
  std::string format, source, clock = "iteration";
  std::uint32_t version = 0;
  std::optional<std::uint32_t> iterations;
  bool cut = false;
  std::vector<ListedOperator> operators;
  EventFields events;
  Means means;
  std::vector<Source> sources;
};

template <class V, MaybeConst<ListedOperator> S>
void visit_fields(V& v, S& s) {
  v.required("name", s.record.name);
  v.field("kind", s.record.kind);
  v.field("kernel", s.record.kernel);
  v.field("precision", s.record.precision);
  v.field("layout", s.record.layout);
  v.field("shapes", s.record.shapes);
  v.field("provider", s.record.provider);
  v.field("origin_names", s.record.origin_names);
  v.field("inputs", s.record.inputs);
  v.field("outputs", s.record.outputs);
  v.field("activation_bytes", s.record.activation_bytes);
  v.field("parameter_bytes", s.record.parameter_bytes);
  v.field("output_bytes", s.record.output_bytes);
  v.field("arena_peak_bytes", s.record.arena_peak_bytes);
  v.field("arena_in_use_bytes", s.record.arena_in_use_bytes);
}
template <class V, MaybeConst<Source> S>
void visit_fields(V& v, S& s) {
  v.required("name", s.name);
  v.field("available", s.available);
  v.field("detail", s.detail);
}
template <class V, MaybeConst<EventFields> S>
void visit_fields(V& v, S& s) {
  v.field("iteration", s.iteration);
  v.field("op", s.op);
  v.field("thread", s.thread);
  v.field("begin_ns", s.begin_ns);
  v.field("duration_ns", s.duration_ns);
}
template <class V, MaybeConst<Means> S>
void visit_fields(V& v, S& s) {
  v.field("duration_ns", s.duration_ns);
  v.field("calls", s.calls);
}
template <class V, MaybeConst<OperatorsFile> S>
void visit_fields(V& v, S& s) {
  v.field("format", s.format);
  v.field("version", s.version);
  v.field("source", s.source);
  v.field("clock", s.clock);
  v.field("iterations", s.iterations);
  v.field("cut", s.cut);
  v.field("operators", s.operators);
  v.field("events", s.events);
  v.field("means", s.means);
  v.field("sources", s.sources);
}

// A text that ends early, without the member or element in which it does, and closed. "" if nothing is left of it.
std::string closed_at_last_comma(std::string_view text) {
  std::string open, open_then;
  std::size_t last = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
      continue;
    }
    if (c == '"') in_string = true;
    if (c == '{') open += '}';
    if (c == '[') open += ']';
    if ((c == '}' || c == ']') && !open.empty()) open.pop_back();
    if (c == ',') {
      last = i;
      if (open.size() > 64) return {};
      open_then = open;
    }
  }
  return std::string(text.substr(0, last)).append(open_then.rbegin(), open_then.rend());
}

class OperatorsReader {
 public:
  OperatorsReader(OperatorsFile file, const Samples& trial, bool ends_early)
      : file_(std::move(file)), trial_(trial), ends_early_(ends_early) {}

  Result<OperatorProfile> operator()() {
    INFERMETER_TRY_DONE(check());
    for (ListedOperator& op : file_.operators) profile_.operators.push_back(std::move(op.record));
    const bool has_means = !file_.means.duration_ns.empty();
    profile_.cut = file_.cut || ends_early_ || file_.events.shortest() < file_.events.longest();
    INFERMETER_TRY_DONE(has_means ? put_means() : put_events_of_iterations());
    profile_.sources = {{"operators", true, detail()}};
    for (Source& source : file_.sources)
      if (source.name != "operators") profile_.sources.push_back({source.name, source.available, source.detail});
    return std::move(profile_);
  }

 private:
  [[nodiscard]] Result<Done> check() const {
    if (file_.format != "infermeter-operators")
      return io_error("operators.json is not of the format that its name says");
    if (file_.version != 1)
      return io_error(fmt::format("operators.json is of version {}, and this infermeter reads 1", file_.version));
    if (file_.clock != "iteration" && file_.clock != "realtime" && file_.clock != "monotonic")
      return io_error("operators.json is of a clock that is none of iteration, realtime and monotonic");
    if (file_.operators.size() > most_listed_operators || file_.sources.size() > most_sources)
      return io_error(
          fmt::format("operators.json has more than {} operators or {} sources", most_listed_operators, most_sources));
    if (file_.operators.empty()) return io_error("operators.json has no operators");
    return Done{};
  }

  Result<Done> put_means() {
    const Means& means = file_.means;
    const auto is_good = [](double value) { return std::isfinite(value) && value >= 0; };
    if (means.duration_ns.size() != profile_.operators.size() || means.calls.size() != profile_.operators.size())
      return io_error("operators.json has not one mean and one number of calls for each operator");
    if (!std::ranges::all_of(means.duration_ns, is_good) || !std::ranges::all_of(means.calls, is_good))
      return io_error("operators.json has a mean that is not a time");
    for (const double mean : means.duration_ns) profile_.mean_s.push_back(mean * 1e-9);
    profile_.mean_calls = means.calls;
    return Done{};
  }

  Result<Done> put_events_of_iterations() {
    const EventFields& events = file_.events;
    const auto timed =
        static_cast<std::uint32_t>(std::min<std::size_t>({trial_.begin_s.size(), trial_.end_s.size(), UINT32_MAX}));
    const std::uint32_t recorded = file_.iterations.value_or(timed), left_out = recorded > timed ? recorded - timed : 0;
    std::vector<PlacedEvent> placed;
    for (std::size_t i = 0; i < events.shortest(); ++i) {
      const std::int64_t begin = events.begin_ns[i], duration = events.duration_ns[i];
      if (events.op[i] >= profile_.operators.size() || events.iteration[i] >= recorded || duration < 0 ||
          !is_near(begin) || !is_near(duration))
        return io_error(
            fmt::format("operators.json has an event that cannot be: operator {} of {}, iteration {} of {}, "
                        "from {} ns on for {} ns",
                        events.op[i], profile_.operators.size(), events.iteration[i], recorded, begin, duration));
      if (events.iteration[i] < left_out) continue;
      placed.push_back({events.iteration[i] - left_out, events.op[i], events.thread[i], begin, duration});
    }
    if (ends_early_ || events.shortest() < events.longest()) leave_out_last_iteration(placed);
    if (placed.empty()) return io_error("operators.json contains no event of the timed iterations");
    if (file_.clock != "iteration") place(placed);
    return put_events(std::move(placed), profile_);
  }

  // It may lack events.
  static void leave_out_last_iteration(std::vector<PlacedEvent>& placed) {
    std::uint32_t last = 0;
    for (const PlacedEvent& event : placed) last = std::max(last, event.iteration);
    std::erase_if(placed, [last](const PlacedEvent& event) { return event.iteration == last; });
  }

  void place(std::vector<PlacedEvent>& placed) {
    const ClockedIterations iterations(trial_, file_.clock == "monotonic" ? 0 : steady_realtime_ahead_ns(trial_));
    is_joined_ = iterations.joined();
    std::vector<std::optional<TimeSpan>> run_of(iterations.count());
    for (const PlacedEvent& event : placed) {
      auto& run = run_of[event.iteration];
      if (!run) run = {event.begin_ns, event.duration_ns};
      const std::int64_t end = std::max(run->end_ns(), event.begin_ns + event.duration_ns);
      run->begin_ns = std::min(run->begin_ns, event.begin_ns);
      run->duration_ns = end - run->begin_ns;
    }
    std::vector<std::int64_t> begins(run_of.size());
    for (std::size_t i = 0; i < run_of.size(); ++i)
      if (run_of[i]) begins[i] = iterations.begin_of(i, *run_of[i]);
    for (PlacedEvent& event : placed) event.begin_ns -= begins[event.iteration];
  }

  [[nodiscard]] std::string detail() const {
    std::string text = file_.source.empty() ? "the back end's own record" : file_.source;
    if (!is_joined_)
      text += "; its clock cannot be joined, so the operators are put into the middle of their iteration";
    if (ends_early_) text += "; it ends early";
    if (profile_.cut && !ends_early_) text += "; later iterations are left out";
    return text;
  }

  OperatorsFile file_;
  const Samples& trial_;
  bool ends_early_ = false, is_joined_ = true;
  OperatorProfile profile_;
};

struct Parsed {
  OperatorsFile file;
  bool ends_early = false;
};

Result<Parsed> parse_file(std::string_view json) {
  if (json.size() > most_bytes) return io_error(fmt::format("operators.json is larger than {} MiB", most_bytes >> 20U));
  const bool is_whole = Json::accept(json.begin(), json.end());
  const std::string closed = is_whole ? std::string() : closed_at_last_comma(json);
  INFERMETER_TRY(OperatorsFile file,
                 structure_from_json<OperatorsFile>(is_whole ? json : std::string_view(closed), "operators.json"));
  return Parsed{.file = std::move(file), .ends_early = !is_whole};
}

// Where each iteration's operators lie; events that cannot be are refused later, by the reader.
Result<std::vector<TimeSpan>> runs_of(const OperatorsFile& file) {
  const EventFields& events = file.events;
  std::uint32_t count = file.iterations.value_or(0);
  for (std::size_t i = 0; i < events.shortest() && !file.iterations; ++i)
    count = std::max(count, events.iteration[i] + 1);
  if (count > kMostImportedIterations)
    return io_error(fmt::format("operators.json has more than {} iterations", kMostImportedIterations));
  std::vector<std::optional<TimeSpan>> spans(count);
  const bool from_zero = file.clock == "iteration";  // then an operator's begin is since its iteration's
  for (std::size_t i = 0; i < events.shortest(); ++i) {
    const std::int64_t begin = events.begin_ns[i], duration = events.duration_ns[i];
    if (events.iteration[i] >= count || !is_near(begin) || !is_near(duration) || duration < 0) continue;
    auto& span = spans[events.iteration[i]];
    if (!span) span = {from_zero ? 0 : begin, 0};
    const std::int64_t end = std::max(span->end_ns(), begin + duration);
    if (!from_zero) span->begin_ns = std::min(span->begin_ns, begin);
    span->duration_ns = end - span->begin_ns;
  }
  std::vector<TimeSpan> runs;
  std::int64_t now = 0;
  for (const auto& span : spans) {
    const std::int64_t begin = from_zero ? now : span ? span->begin_ns : now;
    runs.push_back({begin, span ? span->duration_ns : 0});
    now = runs.back().end_ns();
    if (!is_near(now)) return io_error("operators.json has iterations that are longer than any are");
  }
  return runs;
}

}  // namespace

Result<OperatorProfile> parse_operators(std::string_view json, const Samples& trial) {
  INFERMETER_TRY(Parsed parsed, parse_file(json));
  return OperatorsReader(std::move(parsed.file), trial, parsed.ends_early)();
}

Result<SelfTimedProfile> import_operators(std::string_view json) {
  INFERMETER_TRY(Parsed parsed, parse_file(json));
  INFERMETER_TRY(const auto runs, runs_of(parsed.file));
  INFERMETER_TRY(const Samples samples, samples_of_runs(runs));
  INFERMETER_TRY(OperatorProfile profile, OperatorsReader(std::move(parsed.file), samples, parsed.ends_early)());
  profile.sources.front().detail += "; what lies between the last operator and the end is not reported";
  if (profile.mean_s.empty()) return self_timed(samples, std::move(profile));
  return from_means(std::move(profile));
}

}  // namespace infermeter
