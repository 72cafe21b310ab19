// The JSON report's `profile`: operators, explanations, roofline, peaks. docs/schema/run.schema.json
#include <algorithm>
#include <cmath>

#include "infermeter/report/graph/json.hpp"
#include "infermeter/report/run/json_parts.hpp"
#include "infermeter/stats/summary/quantile.hpp"
#include "infermeter/verdict/judge.hpp"

namespace infermeter {
namespace {

void write_time(JsonWriter& json, const OperatorTime& time) {
  json.member("mean_s", time.mean_s);
  json.member("low_s", time.low_s);
  json.member("high_s", time.high_s);
  json.member("calls", time.calls);
  json.member("helper_s", time.helper_s);
  json.member("share", time.share);
}

void write_roofline_point(JsonWriter& json, const Roofline& roofline, std::size_t op) {
  const auto point = std::ranges::find(roofline.points, op, &RooflinePoint::op);
  json.key("roofline");
  if (point == roofline.points.end()) return json.value(nullptr);
  json.begin_object();
  json.member("flops", point->flops);
  json.member("bytes", point->bytes);
  json.member("flops_per_s", point->flops_per_s);
  json.member("intensity", point->intensity);
  json.member("fraction", point->fraction);
  json.member("bound", point->bound == Bound::compute ? "compute" : "memory");
  json.end_object();
}

void write_operator(JsonWriter& json, const SubjectProfile& profile, const OperatorTime& time) {
  const ProfiledOperator& op = profile.table.profile->operators[time.op];
  json.begin_object();
  json.member("op", std::uint64_t{time.op});
  json.member("name", op.name);
  json.member("kind", op.kind);
  json.member("kernel", op.kernel);
  json.member("precision", op.precision);
  json.member("layout", op.layout);
  json.member("shapes", op.shapes);
  json.member("provider", op.provider);
  json.strings("nodes", op.nodes);
  json.member("rule", to_string(op.rule));
  json.member("flops", op.flops);
  json.member("moved_bytes", op.moved_bytes);
  json.member("activation_bytes", op.activation_bytes);
  json.member("parameter_bytes", op.parameter_bytes);
  json.member("output_bytes", op.output_bytes);
  json.member("arena_peak_bytes", op.arena_peak_bytes);
  json.member("arena_in_use_bytes", op.arena_in_use_bytes);
  write_time(json, time);
  write_roofline_point(json, profile.roofline, time.op);
  json.end_object();
}

void write_sources(JsonWriter& json, const std::vector<ProfileSource>& sources) {
  json.key("sources");
  json.begin_array();
  for (const ProfileSource& source : sources) {
    json.begin_object();
    json.member("name", source.name);
    json.member("available", source.available);
    json.member("detail", source.detail);
    json.end_object();
  }
  json.end_array();
}

// The iteration of the first process whose time is nearest to its median: one that is as they are.
std::size_t usual_iteration(const Samples& trial) {
  const std::vector<double> latencies = latencies_s(trial);
  std::vector<double> sorted = latencies;
  std::ranges::sort(sorted);
  const double median = quantile(sorted, 0.5);
  const auto nearest =
      std::ranges::min_element(latencies, {}, [median](double latency) { return std::abs(latency - median); });
  return static_cast<std::size_t>(nearest - latencies.begin());
}

void write_timeline(JsonWriter& json, const ProfileTrial& trial) {
  json.key("timeline");
  const OperatorProfile& profile = *trial.profile;
  if (!profile.has_events()) return json.value(nullptr);
  const std::size_t iteration = usual_iteration(*trial.samples);
  std::vector<double> op, thread, begin_s, duration_s;
  for (std::size_t i = 0; i < profile.iteration.size(); ++i) {
    if (profile.iteration[i] != iteration) continue;
    op.push_back(profile.op[i]);
    thread.push_back(profile.thread[i]);
    begin_s.push_back(profile.begin_s[i]);
    duration_s.push_back(profile.duration_s[i]);
  }
  json.begin_object();
  json.member("process", trial.samples->process);
  json.member("iteration", std::uint64_t{iteration});
  json.member("wall_s", trial.samples->end_s[iteration] - trial.samples->begin_s[iteration]);
  json.numbers("op", op);
  json.numbers("thread", thread);
  json.numbers("begin_s", begin_s);
  json.numbers("duration_s", duration_s);
  json.end_object();
}

// Of a chain of two operators at least.
constexpr const char* kNoEdges = "the runtime does not report which operator reads what another one makes";

void write_table(JsonWriter& json, const SubjectProfile& profile) {
  const OperatorTable& table = profile.table;
  json.member("wall_s", table.wall_s);
  json.member("clean_p50_s", table.clean_p50_s);
  json.member("profiled_p50_s", table.profiled_p50_s);
  json.member("distorted", table.distorted);
  write_sources(json, profile.table.profile->sources);
  json.key("operators");
  json.begin_array();
  for (const OperatorTime& time : table.operators) write_operator(json, profile, time);
  json.end_array();
  json.key("rest");
  json.begin_object();
  write_time(json, table.rest);
  json.end_object();
  json.key("roofline");
  json.begin_object();
  json.member("whole_fraction", profile.roofline.whole_fraction);
  json.member("whole_flops", profile.roofline.whole_flops);
  json.strings("notes", profile.roofline.notes);
  json.member("reason", profile.roofline.reason);
  json.end_object();
  const GraphEdges edges = edges_of(table.profile->operators);
  json.key("graph");
  json.begin_object();
  write_edges(json, edges);
  json.member("reason", edges.from.empty() ? kNoEdges : "");
  json.end_object();
  write_timeline(json, *std::ranges::find(profile.trials, profile.table.profile, &ProfileTrial::profile));
}

void write_subject_profile(JsonWriter& json, const SubjectProfile& profile) {
  json.begin_object();
  json.member("subject", profile.subject);
  json.member("asked", profile.asked);
  json.member("processes", std::uint64_t{profile.table.processes});
  json.member("left_out", std::uint64_t{profile.table.left_out});
  json.key("table");
  if (profile.table.profile == nullptr) {
    json.value(nullptr);
  } else {
    json.begin_object();
    write_table(json, profile);
    json.end_object();
  }
  write_stacks(json, profile.stacks);
  json.end_object();
}

std::vector<double> as_numbers(const std::vector<std::size_t>& indices) { return {indices.begin(), indices.end()}; }

void write_group(JsonWriter& json, const GroupDifference& group) {
  json.begin_object();
  json.member("kind", group.group.kind);
  json.strings("nodes", group.group.nodes);
  json.numbers("in_baseline", as_numbers(group.group.in_a));
  json.numbers("in_subject", as_numbers(group.group.in_b));
  json.member("is_helper", group.group.is_helper);
  json.member("baseline_s", group.a_s);
  json.member("subject_s", group.b_s);
  json.member("mean_s", group.mean_s);
  json.member("low_s", group.low_s);
  json.member("high_s", group.high_s);
  json.member("p", group.p);
  json.member("separable", group.separable);
  json.end_object();
}

void write_clause(JsonWriter& json, const Clause& clause) {
  json.begin_object();
  json.member("sentence", clause.sentence);
  json.member("cause", to_string(clause.cause));
  json.numbers("groups", as_numbers(clause.groups));
  json.member("mean_s", clause.mean_s);
  json.member("low_s", clause.low_s);
  json.member("high_s", clause.high_s);
  json.member("share", clause.share);
  json.end_object();
}

void write_explanation(JsonWriter& json, const ProfileExplanation& one) {
  const Explanation& why = one.explanation;
  json.begin_object();
  json.member("baseline", one.baseline);
  json.member("subject", one.subject);
  json.member("reason", why.reason);
  json.member("pairs", std::uint64_t{why.pairs});
  json.member("left_out", std::uint64_t{why.left_out});
  json.member("baseline_s", why.a_s);
  json.member("subject_s", why.b_s);
  json.member("difference_s", why.difference_s);
  json.member("low_s", why.low_s);
  json.member("high_s", why.high_s);
  json.member("clean_difference_s", why.clean_difference_s);
  json.member("clean_low_s", why.clean_low_s);
  json.member("clean_high_s", why.clean_high_s);
  json.member("consistent", why.consistent);
  json.member("not_separable_s", why.not_separable_s);
  json.member("not_separable_half_width_s", why.not_separable_half_width_s);
  json.key("clauses");
  json.begin_array();
  for (const Clause& clause : why.clauses) write_clause(json, clause);
  json.end_array();
  json.key("groups");
  json.begin_array();
  for (const GroupDifference& group : why.groups) write_group(json, group);
  json.end_array();
  write_stack_differences(json, one.stacks);
  json.end_object();
}

void write_peaks(JsonWriter& json, const std::optional<MachinePeaks>& peaks) {
  json.key("peaks");
  if (!peaks) return json.value(nullptr);
  json.begin_object();
  json.member("threads", peaks->threads);
  json.member("seconds", peaks->seconds);
  json.strings("missing", peaks->missing);
  json.key("compute");
  json.begin_array();
  for (const ComputePeak& peak : peaks->compute) {
    json.begin_object();
    json.member("dtype", peak.dtype);
    json.member("ops_per_s", peak.ops_per_s);
    json.member("low", peak.low);
    json.member("high", peak.high);
    json.member("instructions", peak.instructions);
    json.end_object();
  }
  json.end_array();
  json.key("bandwidth");
  json.begin_array();
  for (const BandwidthPeak& peak : peaks->bandwidth) {
    json.begin_object();
    json.member("level", peak.level);
    json.member("holds_bytes", peak.holds_bytes);
    json.member("bytes_per_s", peak.bytes_per_s);
    json.member("low", peak.low);
    json.member("high", peak.high);
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

}  // namespace

void write_profile(JsonWriter& json, const RunRecord& record, const std::optional<ProfileFindings>& findings) {
  json.key("profile");
  if (!findings) return json.value(nullptr);
  json.begin_object();
  json.key("subjects");
  json.begin_array();
  for (const SubjectProfile& profile : findings->subjects) write_subject_profile(json, profile);
  json.end_array();
  json.key("explanations");
  json.begin_array();
  for (const ProfileExplanation& one : findings->explanations) write_explanation(json, one);
  json.end_array();
  write_peaks(json, record.peaks);
  json.end_object();
}

}  // namespace infermeter
