#include "infermeter/samples/profile_json.hpp"

#include <algorithm>

#include "infermeter/diagnostics/json_fields.hpp"

namespace infermeter {
namespace {

// Every event is of an operator that is there; lists that belong together are of one length.
bool fits(const OperatorProfile& profile) {
  const std::size_t events = profile.iteration.size(), operators = profile.operators.size();
  const bool lengths = profile.op.size() == events && profile.thread.size() == events &&
                       profile.begin_s.size() == events && profile.duration_s.size() == events;
  const bool means = profile.mean_s.size() == profile.mean_calls.size() &&
                     (profile.mean_s.empty() || profile.mean_s.size() == operators);
  return lengths && means && std::ranges::all_of(profile.op, [&](std::uint32_t op) { return op < operators; });
}

bool fits(const StackProfile& profile) {
  return std::ranges::all_of(profile.samples, [&](const StackSample& sample) {
    return sample.thread < profile.threads.size() &&
           std::ranges::all_of(sample.frames, [&](std::uint32_t frame) { return frame < profile.frames.size(); });
  });
}

}  // namespace

template <class V, MaybeConst<ProfiledOperator> S>
void visit_fields(V& v, S& s) {
  v.required("name", s.name);
  v.field("kind", s.kind);
  v.field("kernel", s.kernel);
  v.field("precision", s.precision);
  v.field("layout", s.layout);
  v.field("shapes", s.shapes);
  v.field("provider", s.provider);
  v.field("origin_names", s.origin_names);
  v.field("inputs", s.inputs);
  v.field("outputs", s.outputs);
  v.field("activation_bytes", s.activation_bytes);
  v.field("parameter_bytes", s.parameter_bytes);
  v.field("output_bytes", s.output_bytes);
  v.field("arena_peak_bytes", s.arena_peak_bytes);
  v.field("arena_in_use_bytes", s.arena_in_use_bytes);
  v.field("nodes", s.nodes);
  v.field("rule", s.rule);
  v.field("flops", s.flops);
  v.field("moved_bytes", s.moved_bytes);
}

template <class V, MaybeConst<ProfileSource> S>
void visit_fields(V& v, S& s) {
  v.required("name", s.name);
  v.field("available", s.available);
  v.field("detail", s.detail);
}

template <class V, MaybeConst<OperatorProfile> S>
void visit_fields(V& v, S& s) {
  v.required("position", s.position);
  v.field("sources", s.sources);
  v.field("operators", s.operators);
  v.field("iteration", s.iteration);
  v.field("op", s.op);
  v.field("thread", s.thread);
  v.field("begin_s", s.begin_s);
  v.field("duration_s", s.duration_s);
  v.field("mean_s", s.mean_s);
  v.field("mean_calls", s.mean_calls);
  v.field("cut", s.cut);
}

template <class V, MaybeConst<StackFrame> S>
void visit_fields(V& v, S& s) {
  v.field("symbol", s.symbol);
  v.field("module", s.module);
  v.field("offset", s.offset);
}

template <class V, MaybeConst<StackSample> S>
void visit_fields(V& v, S& s) {
  v.field("t_s", s.t_s);
  v.field("thread", s.thread);
  v.field("frames", s.frames);
  v.field("weight", s.weight);
  v.field("iteration", s.iteration);
  v.field("op", s.op);
}

template <class V, MaybeConst<StackProfile> S>
void visit_fields(V& v, S& s) {
  v.field("frames", s.frames);
  v.field("threads", s.threads);
  v.field("samples", s.samples);
  v.field("unit", s.unit);
  v.field("cut", s.cut);
}

template <class V, MaybeConst<TrialStacks> S>
void visit_fields(V& v, S& s) {
  v.required("position", s.position);
  v.required("method", s.method);
  v.field("detail", s.detail);
  v.field("is_python", s.is_python);
  v.field("stacks", s.stacks);
}

template <class V, MaybeConst<ComputePeak> S>
void visit_fields(V& v, S& s) {
  v.required("dtype", s.dtype);
  v.field("ops_per_s", s.ops_per_s);
  v.field("low", s.low);
  v.field("high", s.high);
  v.field("instructions", s.instructions);
}

template <class V, MaybeConst<BandwidthPeak> S>
void visit_fields(V& v, S& s) {
  v.required("level", s.level);
  v.field("bytes_per_s", s.bytes_per_s);
  v.field("low", s.low);
  v.field("high", s.high);
  v.field("holds_bytes", s.holds_bytes);
}

template <class V, MaybeConst<MachinePeaks> S>
void visit_fields(V& v, S& s) {
  v.required("threads", s.threads);
  v.field("compute", s.compute);
  v.field("bandwidth", s.bandwidth);
  v.field("seconds", s.seconds);
  v.field("missing", s.missing);
}

std::string profile_to_json(const OperatorProfile& profile) { return structure_to_json(profile); }

Result<OperatorProfile> profile_from_json(std::string_view text) {
  INFERMETER_TRY(auto profile, structure_from_json<OperatorProfile>(text, "the profile of a trial"));
  if (!fits(profile)) return io_error("the profile of a trial has events that do not fit its operators");
  return profile;
}

std::string stacks_to_json(const TrialStacks& stacks) { return structure_to_json(stacks); }

Result<TrialStacks> stacks_from_json(std::string_view text) {
  INFERMETER_TRY(auto stacks, structure_from_json<TrialStacks>(text, "the stacks of a trial"));
  if (!fits(stacks.stacks)) return io_error("the stacks of a trial have samples that do not fit their frames");
  return stacks;
}

std::string peaks_to_json(const MachinePeaks& peaks) { return structure_to_json(peaks); }

Result<MachinePeaks> peaks_from_json(std::string_view text) {
  return structure_from_json<MachinePeaks>(text, "the peaks of the machine");
}

}  // namespace infermeter
