// The page's only input: the report document (docs/schema/report.schema.json), which holds the JSON reports of runs,
// validations, … as they are (docs/schema/*.schema.json). Base units: seconds, bytes, items; null: not measured.
// Every string is text from outside and may hold anything.
import type { SampleFigures, WholeFigures } from "./difference_figures.ts";

export type Outcome = "pass" | "fail" | "inconclusive" | "none";
export type Tone = "plain" | "good" | "warning" | "bad" | "faint";

export interface ReportDocument {
  schema: "infermeter.report/1";
  infermeter_version: string;
  title: string;
  about?: string; // of a study: what it asks, and how
  notices: Notice[]; // about the whole: runs of different machines
  parts: Part[];
}

// What was asked, and what was found (docs/schema/run.schema.json).
export type AnswerTopic =
  | "speed" | "fastest" | "memory" | "power" | "noise" | "level" | "requests" | "outputs" | "accuracy" | "completion" | "leak"
  | "profile" | "source" | "gate" | "expectation" | "agreement" | "repetition" | "values" | "history" | "layers" | "front"
  | "prediction" | "design" | "tuning" | "bound" | "load";
export type AnswerKind =
  | "faster" | "slower" | "equivalent" | "undecided" | "unknown" | "fastest" | "least_memory" | "less_memory" | "more_memory"
  | "detectable" | "machine_noise" | "measured" | "not_measured" | "one_request_at_a_time" | "imported" | "outputs_agree"
  | "outputs_differ" | "outputs_undecided" | "outputs_not_compared" | "outputs_not_comparable" | "more_accurate"
  | "less_accurate" | "accurate_enough" | "not_accurate_enough" | "failed" | "leak" | "no_leak" | "explained" | "not_explained"
  | "pass" | "fail" | "inconclusive" | "does_not_repeat" | "not_finite" | "constant" | "equal" | "better" | "worse" | "steady"
  | "part" | "grow" | "rounding_only" | "on_front" | "dominated" | "as_predicted" | "less_than_predicted"
  | "more_than_predicted" | "predicted" | "not_interleaved" | "searched" | "best" | "equals"
  | "out" | "valid" | "not_valid";

// An answer as data. `subjects` and `baseline` are indices: into the run's subjects; of a validation and of layers 0 is
// the baseline and 1 the candidate; of a history into its series; of variants into the variants.
export interface AnswerData {
  topic: AnswerTopic;
  kind: AnswerKind;
  tone: Tone;
  verdict: string; // the kind in words: "faster", "cannot tell"
  subjects: number[]; // of "dominated" the first is dominated by the others
  baseline: number | null;
  about: string; // an output, an expectation, a tensor, a counter
  place: number | null; // of that in the report's list of them
  metric: string; // "": there is no figure
  value: number | null; // of topic "speed": above 1 the subject is better than the baseline; otherwise in `unit`
  interval: Interval | null;
  direction: Direction | null; // of topic "speed": what the interval says
  unit: string;
  n: number; // 0: it does not say
  n_of: string;
  processes: number;
  reason: string;
  needed: { more: number; what: "pairs" | "processes" | "rows"; total: number; seconds: number | null } | null;
}

// The same in words. `besides`: what is said in the same sentence.
export interface Answer extends AnswerData {
  text: string;
  besides: AnswerData[];
}

// What every report begins with.
export interface Answered {
  answers: Answer[];
  checks: Check[];
}

// Diagnostics that say the same, once.
export interface Notice {
  id: string;
  severity: "error" | "warning" | "info";
  messages: string[];
  remedy: string;
}

// A row of the checklist.
export interface Check {
  name: string;
  outcome: Outcome; // none: it was not asked, or there is nothing to check
  detail: string;
}

export interface Recommendations {
  subject: string; // label
  sentences: { tone: Tone; text: string }[];
}

// What is shown first.
export interface Overview {
  headline: { verdict: string; tone: Tone; text: string };
  margin: number; // effects below it are no difference
  effects: Effect[]; // of runs
  since_last: SinceLast | null; // of runs: the last one of the same subjects
}

export interface SinceLast {
  run: string;
  at: string;
  subjects: { subject: number; change: number | null; interval: Interval | null; direction: Direction }[]; // of latency p50
  differences: string[]; // of machine, software, models and settings
}

// A candidate against its baseline; or a baseline that failed.
export interface Effect {
  subject: number;
  baseline: number | null;
  group: string; // "resnet50, batch size 1, float32"
  label: string; // without what it shares with its group
  against: string;
  metric: string;
  change: number | null; // share of the baseline's value: -0.1 is 10 % less
  interval: Interval | null;
  verdict: "faster" | "slower" | "better" | "worse" | "same" | "undecided" | "outputs differ" | "failed" | "not measured";
  tone: Tone;
}

export interface Part {
  kind: "run" | "gate" | "validation" | "variants" | "layers" | "history";
  title: string;
  outcome: Outcome;
  overview: Overview;
  answers: Answer[];
  notices: Notice[];
  checks: Check[];
  recommendations: Recommendations[];
  run: Run | null; // of kinds run, gate, variants
  figures: RunFigures | null; // of `run`
  gate: Gate | null;
  validation: Validation | null;
  difference_pictures: DifferencePicture[]; // of `validation`
  variants: Variants | null;
  layers: Layers | null;
  history: History | null;
}

// --- what pictures need besides the run's own report; made from every iteration ---

export interface RunFigures {
  quantile_levels: number[]; // ascending, in [0, 1], first 0, last 1: of the pooled iterations
  process_levels: number[]; // the same for single processes
  quantile_needs: number[]; // iterations that it takes to show each of quantile_levels as a percentile
  process_needs: number[]; // the same of process_levels
  distributions: Distribution[]; // of subjects that have iterations
  ratios: PairRatio[]; // of latency p50 between any two subjects of a group, both ways
  fronts: { against: string; batch_size: number; front: number[] }[]; // of latency p50 and `against`, for each group
  generation: GenerationTimes[];
}

// How often which time of answers that came piece by piece occurred, in bins that all subjects share.
export interface GenerationTimes {
  time: "ttft" | "itl" | "tpot";
  log: boolean; // the bins are equally wide on a logarithmic axis
  edges_s: number[]; // one more than there are bins
  subjects: { subject: number; n: number; shares: number[] }[]; // of those that have any
}

export interface Distribution {
  subject: number; // index into run.subjects
  n: number;
  quantiles_s: number[]; // at quantile_levels (type 7)
  processes: {
    process: number;
    position: number;
    n: number;
    quantiles_s: number[]; // at process_levels
    // Tukey's fences of this process: beyond the inner ones mild outliers, beyond the outer ones severe.
    fences_s: { severe_low: number; mild_low: number; mild_high: number; severe_high: number };
  }[];
}

export interface PairRatio {
  baseline: number;
  subject: number;
  value: number | null; // baseline / subject: 2 is twice as fast
  interval: Interval | null;
}

// --- infermeter.run/1 ---

export interface Interval {
  low: number;
  high: number;
  confidence: number;
}

export interface Estimate {
  value: number | null;
  interval: Interval | null;
  n: number;
  processes: number;
  method: string;
  note: string;
}

export interface Metric extends Estimate {
  unit: "s" | "items/s" | "bytes";
  lower_is_better: boolean;
  within: Interval | null;
}

export interface Diagnostic {
  id: string;
  severity: "error" | "warning" | "info";
  message: string;
  remedy: string;
  about: string;
}

export interface OutputDifference extends SampleFigures, WholeFigures {
  name: string;
  dtype: string;
  shape: number[];
  comparable: boolean;
  reason: string;
  within_tolerance: boolean;
  undecided: string;
  element_count: number;
  mismatched: number;
  max_absolute: number | null;
  max_absolute_item: number;
  max_absolute_index: number;
  reference_at_max: number | null;
  candidate_at_max: number | null;
  nan_reference: number;
  nan_candidate: number;
  inf_reference: number;
  inf_candidate: number;
  non_finite_apart: number;
  tolerance_relative: number;
  tolerance_absolute: number;
  tolerance_floor: number;
}

export interface Accuracy {
  output: string;
  value: number | null;
  interval: Interval | null;
  labels: {
    rows: number;
    top1: number;
    top5: number | null;
    top5_share: number | null;
    classes: { label: number; rows: number; right: number }[];
  } | null;
  masks: {
    pixels: number;
    right: number;
    mean_iou: number | null;
    mean_dice: number | null;
    classes: { label: number; truth: number; predicted: number; both: number; iou: number | null; dice: number | null }[];
  } | null;
  reference: number | null;
  change: {
    value: number;
    interval: Interval | null;
    p: number;
    both: number;
    reference_only: number;
    candidate_only: number;
    neither: number;
  } | null;
}

export interface Leak {
  verdict: string; // "leak", "no leak", "cannot tell"
  bytes_per_iteration: number;
  interval: Interval | null;
  from_iteration: number;
  growth_bytes: number | null;
  detectable_bytes_per_iteration: number | null; // of no leak: what it would have taken to be seen
  reason: string;
}

// Arrays of equal lengths: per bin of bin_s seconds.
export interface LoadTimeline {
  bin_s: number;
  arrived: number[];
  completed: number[];
  failed: number[];
  in_flight: number[];
  slowest_s: number[];
}

export interface LoadProcess {
  process: number;
  position: number;
  open_loop: boolean;
  clients: number;
  samples: number;
  due: number;
  issued: number;
  completed: number;
  failed: number;
  arrivals_s: number;
  duration_s: number;
  gave_up: boolean;
  checked: number; // answers that were compared with that of an inference alone
  mismatched: number;
  largest_difference: number;
  steps: { rate: number; requests: number; response_s: number; met: boolean }[]; // rates that were tried while the highest was sought
  timeline: LoadTimeline;
  percentiles: { share: number[]; response_s: number[]; service_s: number[]; lag_s: number[] }; // of what was not recorded: []
  errors: { message: string; count: number }[];
}

export interface SubjectLoad {
  asked: Record<string, string>; // scenario, rate, concurrency, arrivals, samples, find_rate, goodput
  valid: boolean;
  requests: number; // that succeeded, of the process with the fewest
  findings: { rule: string; value: number; bound: number; unit: string; message: string; remedy: string }[];
  figures: Record<string, Estimate & { unit: string; lower_is_better: boolean; holds: boolean }>; // achieved_rate, response_p99, …
  processes: LoadProcess[];
  error_kinds: { kind: string; count: number }[]; // of failed requests, all processes together
}

export interface RunSubject {
  index: number;
  label: string;
  model: string;
  backend: string;
  batch_size: number;
  group: number;
  baseline: number | null;
  trials_ok: number;
  trials_partial: number;
  trials_failed: number;
  // latency_p50 … latency_max, throughput, memory_peak, device_memory_peak, load_time, compile_time, …
  metrics: Record<string, Metric>;
  counters: (Estimate & { name: string; unit: string })[];
  load?: SubjectLoad; // of a subject under load
  ratios: Record<string, Estimate>; // latency_p50, throughput, memory_peak; against `baseline`
  direction: Direction | null;
  leak: Leak | null;
  outputs: {
    reference: number;
    agree: boolean;
  undecided: boolean;
    items: number;
    differences: OutputDifference[];
    diagnostics: Diagnostic[];
  } | null;
  accuracy: Accuracy | null;
  outliers: { mild: number; severe: number; removed: number; total: number };
  diagnostics: Diagnostic[];
}

export interface Times {
  begin_s: number[]; // seconds since the trial's origin, to about a hundredth of an iteration
  latency_s: number[]; // six significant digits, to a nanosecond at most
}

export type Phase = "start" | "load" | "compile" | "inputs" | "first_inference" | "warmup" | "timed" | "outputs" | "done";

// What the launcher saw, of equal lengths; `recorded`: how many points the record holds, of which these are some.
export interface MemoryTimeline {
  recorded: number;
  at_s: number[];
  phase: Phase[];
  rss_bytes: number[];
}

export interface Trial {
  subject: number;
  process: number;
  position: number;
  purpose: "timed" | "pilot" | "leak" | "profile";
  started_at: string;
  wall_s: number;
  end: string; // ok, load_failed, run_failed, crashed, timeout, out_of_memory, interrupted
  phase: string;
  signal: number | null;
  message: string;
  usage: boolean;
  stderr_tail: string;
  open_s: number | null;
  load_s: number | null;
  compile_s: number | null;
  first_inference_s: number | null;
  ready_s: number | null;
  iterations: number; // all that were timed; `samples` may hold fewer: then it was thinned, extremes kept
  items_per_iteration: number;
  clock: { name: string; tick_s: number; read_cost_s: number };
  memory: {
    rss_before_load_bytes: number | null;
    rss_after_load_bytes: number | null;
    rss_peak_load_bytes: number | null;
    rss_peak_inference_bytes: number | null;
    pss_after_load_bytes: number | null;
    pss_after_inference_bytes: number | null;
    device_now_bytes: number | null;
    device_peak_bytes: number | null;
    peak_reset: boolean;
  };
  memory_timeline: MemoryTimeline;
  noise: Record<string, number | null>;
  energy_j: number | null;
  executed: Record<string, string>;
  counters: { name: string; unit: string; value: number | null }[];
  outputs: { name: string; dtype: string; shape: number[]; element_count: number; nan_count: number; inf_count: number; batch_axis: number | null }[];
  input_digest: string;
  output_digest: string;
  diagnostics: Diagnostic[];
  warmup_samples?: Times; // absent with --no-samples
  samples?: Times;
  memory_after_iteration_bytes?: number[];
}

export interface PlannedSubject {
  label: string;
  model: string;
  backend: string;
  device: string;
  dtype: string;
  batch_size: number;
  threads: number;
  dimensions: Record<string, string>;
  batch_axes: Record<string, string>; // by input; "" for all
  options: Record<string, string>;
  environment?: Record<string, string>;
  backend_library: string;
  group: number;
}

export interface Question {
  metric: string;
  margin: number; // a share: 0.01
  alpha: number;
  until_resolved: boolean;
  all_pairs: boolean;
  drop_disturbed: boolean;
  budget_s: number | null;
}

export interface PlannedTuning {
  objective: string;
  constraints: string[];
  indifference: number;
  alpha: number;
  budget_s: number;
  halving_blocks: number;
  race_blocks: number;
  confirmation_pairs: number;
  settings: number; // of the whole space
  left_out: { setting: string; reason: string }[];
}

export interface Plan {
  subjects: PlannedSubject[];
  processes: number;
  warmup: number;
  count_first: boolean;
  iterations: number | null;
  duration_s: number | null;
  automatic_warmup: boolean;
  automatic_iterations: boolean;
  automatic_processes: boolean;
  precision: number;
  budget_s: number | null;
  repeat_disturbed: number;
  leak_iterations: number;
  question: Question | null;
  tuning: PlannedTuning | null;
  load_timeout_s: number | null;
  run_timeout_s: number | null;
  memory_limit_bytes: number;
  seed: number;
  data: { source: string; distributions: Record<string, string>; limit: number; seed: number; labels: string };
  outliers: string;
  sandbox: string;
  compare_outputs: boolean;
  cpus: number[];
  output_dir: string;
  backend_path: string;
  order: { subject: number; process: number }[];
}

export interface Model {
  name: string;
  path: string;
  format: string;
  sha256: string;
  size_bytes: number;
  parameters: number | null;
  nonzero_parameters: number | null;
  weight_files: string[];
  from_zoo: boolean;
  made: string;
}

// Differences of natural logarithms, candidate less baseline, turned so that positive is worse.
export interface PairedComparison {
  baseline: number;
  candidate: number;
  metric: string;
  lower_is_better: boolean;
  pairs: number;
  incomplete: number;
  dropped: number;
  baseline_processes: number; // of two runs; 0 of pairs
  candidate_processes: number;
  estimate: number | null;
  interval: Interval | null;
  t_interval: Interval | null;
  sign_interval: Interval | null;
  p: number;
  standard_deviation: number;
  spread: number;
  minimum_effect: number | null;
  more_pairs: number | null;
  differences: number[];
}

export type Direction = "faster" | "slower" | "equivalent" | "unresolved";

export interface Look {
  pairs: number;
  level: number;
  p: number;
  estimate: number;
  interval: Interval | null;
  direction: Direction;
}

export interface Comparison {
  paired: boolean; // false: of two runs, which were not interleaved
  pairs: number;
  resolved: boolean;
  steady: boolean;
  ended: boolean;
  wall_s: number;
  primary: (PairedComparison & { direction: Direction; withheld: string; looks: Look[] })[];
  exploratory: (PairedComparison & { direction: Direction })[]; // what it looks like: it decides nothing
}

export interface TunedSetting {
  subject: number;
  fate: "best" | "equal" | "open" | "worse" | "halved" | "bound" | "outputs" | "load" | "failed" | "not_raced";
  reason: string; // the constraint that it misses, or how it failed
  blocks: number; // of the race that it took part in
  out_after: number | null; // so many of them; 0: before the race; null: it is not out
  behind: number | null; // of the best: a difference of logarithms, positive is worse
  behind_interval: Interval | null;
  on_front: boolean; // of objective, latency, memory, size and accuracy
  bounds: { constraint: string; kept: "yes" | "no" | "unknown"; value: number | null; interval: Interval | null; why: string }[];
}

export interface Tuning {
  stage: "pilots" | "halving" | "race" | "confirmation" | "ended";
  decided: boolean;
  out_of_time: boolean;
  blocks: number;
  best: number | null;
  second: number | null;
  wall_s: number;
  against_default: (PairedComparison & { direction: Direction }) | null; // of fresh pairs
  against_second: (PairedComparison & { direction: Direction }) | null;
  settings: TunedSetting[];
}

export interface Run extends Answered {
  schema: "infermeter.run/1";
  id: string;
  created_at: string;
  finished: boolean;
  exit_code: number;
  joined: { id: string; created_at: string; machine: string; unmatched: string[] }[]; // the two runs that are compared, or none
  plan: Plan;
  environment: Record<string, unknown> & { machine: string; processor: string; hostname: string; command: string };
  models: Model[]; // of each subject, in order
  subjects: RunSubject[];
  comparison: Comparison | null;
  tuning: Tuning | null; // of a race of settings
  machine_noise: { measured_at: string; subject: string; metric: string; pairs: number; standard_deviation: number } | null;
  energy_reason: string | null;
  trials: Trial[];
  side_trials: Trial[];
  profile: Profile | null;
  diagnostics: Diagnostic[];
}

// Where the time of an inference goes. `subject` and `baseline` are indices into the run's subjects.
export interface Profile {
  subjects: SubjectProfile[];
  explanations: ProfileExplanation[];
  peaks: MachinePeaks | null;
}

export interface SubjectProfile {
  subject: number;
  asked: number;
  processes: number;
  left_out: number;
  table: OperatorTable | null;
  stacks?: StackProfile[]; // one per method; none in documents of older versions
}

export interface StackFunctionName {
  symbol: string; // "": not known
  module: string;
  offset: string; // "0x12ab" into the module; "": not told, or all small addresses of it
}

export interface StackFunction extends StackFunctionName {
  self_s: number; // per inference, of the main thread
  low_s: number | null;
  high_s: number | null;
  share: number;
  total_s: number;
  helper_s: number; // on other threads
  places: { kind: string; op: number | null; operators: number; self_s: number }[];
}

interface StackNodePlace {
  parent: number | null; // comes before it; null: of the whole and of other threads
  level: "whole" | "other_threads" | "kind" | "operator" | "frame" | "rest" | "merged";
  kind?: string; // "": outside of operators
  merged?: number;
  function?: number; // of functions[]
  mean_s: number;
  low_s: number | null;
  high_s: number | null;
}

export interface StackNode extends StackNodePlace {
  op?: number; // of operators[].op
  self_s: number;
}

export interface StackDifferenceNode extends StackNodePlace {
  group?: number; // of the explanation's groups[]
  baseline_s: number;
  subject_s: number;
  separable: boolean;
}

interface StackSource {
  method: string;
  detail: string;
  is_python: boolean;
  is_time: boolean; // else shares of samples, as times
  samples: number;
  left_out: number;
  tagged_share: number;
  unnamed_share: number;
}

export interface StackProfile extends StackSource {
  processes: number;
  wall_s: number;
  clean_p50_s: number | null;
  profiled_p50_s: number | null;
  distorted: boolean;
  functions: StackFunction[]; // by self_s
  tree: StackNode[];
}

export interface StackDifference extends StackSource {
  pairs: number;
  difference_s: number;
  functions: StackFunctionName[];
  tree: StackDifferenceNode[];
}

export interface OperatorTime {
  mean_s: number; // per inference
  low_s: number | null;
  high_s: number | null;
  calls: number;
  helper_s: number; // of all other threads, in no sum
  share: number;
}

export interface OperatorRoofline {
  flops: number;
  bytes: number;
  flops_per_s: number;
  intensity: number;
  fraction: number;
  bound: "compute" | "memory";
}

export interface ProfiledOperator extends OperatorTime {
  op: number; // place in the order of execution
  name: string;
  kind: string;
  kernel: string;
  precision: string;
  layout: string;
  shapes: string;
  provider: string;
  nodes: string[];
  rule: "exact" | "tensor" | "suffix" | "inferred" | "none";
  flops: number | null;
  moved_bytes: number | null;
  activation_bytes: number | null;
  parameter_bytes: number | null;
  output_bytes: number | null;
  arena_peak_bytes: number | null;
  arena_in_use_bytes: number | null;
  roofline: OperatorRoofline | null;
}

export interface OperatorTable {
  wall_s: number; // operators and rest add up to it
  clean_p50_s: number | null;
  profiled_p50_s: number | null;
  distorted: boolean;
  sources: { name: string; available: boolean; detail: string }[];
  operators: ProfiledOperator[]; // slowest first
  rest: OperatorTime;
  roofline: { whole_fraction: number | null; whole_flops: number; notes: string[]; reason: string };
  timeline: OperatorTimeline | null;
}

export interface OperatorTimeline {
  process: number;
  iteration: number;
  wall_s: number;
  op: number[];
  thread: number[];
  begin_s: number[];
  duration_s: number[];
}

export interface ProfileClause {
  sentence: string;
  cause: string;
  groups: number[];
  mean_s: number;
  low_s: number;
  high_s: number;
  share: number;
}

export interface OperatorGroupDifference {
  kind: string;
  nodes: string[];
  in_baseline: number[]; // of operators[].op
  in_subject: number[];
  is_helper: boolean;
  baseline_s: number;
  subject_s: number;
  mean_s: number; // subject less baseline
  low_s: number;
  high_s: number;
  p: number;
  separable: boolean;
}

export interface ProfileExplanation {
  baseline: number;
  subject: number;
  reason: string; // why there is none
  pairs: number;
  left_out: number; // profile trials
  baseline_s: number;
  subject_s: number;
  difference_s: number; // the groups' mean_s add up to it
  low_s: number;
  high_s: number;
  clean_difference_s: number | null;
  clean_low_s: number | null;
  clean_high_s: number | null;
  consistent: boolean;
  not_separable_s: number;
  not_separable_half_width_s: number;
  clauses: ProfileClause[];
  groups: OperatorGroupDifference[];
  stacks?: StackDifference[];
}

export interface MachinePeaks {
  threads: number;
  seconds: number;
  missing: string[];
  compute: { dtype: string; ops_per_s: number; low: number; high: number; instructions: string }[];
  bandwidth: { level: string; holds_bytes: number; bytes_per_s: number; low: number; high: number }[];
}

// --- infermeter.gate/1 ---

export interface Gate extends Answered {
  gate: string;
  run: string;
  baseline: { name: string; run: string } | null;
  passed: number;
  failed: number;
  inconclusive: number;
  exit_code: number;
  verdicts: {
    expectation: string;
    subject: string;
    outcome: Outcome;
    relation: string | null;
    threshold: number | null;
    unit: string;
    value: number | null;
    interval: Interval | null;
    exact: boolean;
    n: number;
    n_of: string;
    processes: number;
    reason: string;
    notes: string[];
  }[];
}

// --- infermeter.validation/1 ---

export interface ValidationSide {
  label: string;
  model: string;
  backend: string;
  batch_size: number;
  sha256: string;
  executed: Record<string, string>;
  accuracy: Accuracy | null;
}

export interface ValidationSample extends SampleFigures {
  item: number;
  name: string;
  output: string;
  within_tolerance: boolean;
  element_count: number;
  mismatched: number;
  non_finite_apart: number;
  max_absolute: number | null;
  max_absolute_index: number;
  reference_at_max: number | null;
  candidate_at_max: number | null;
}

export interface Validation extends Answered {
  outcome: Outcome;
  agree: boolean;
  undecided: boolean;
  baseline: ValidationSide;
  candidate: ValidationSide;
  data: { source: string; labels: string; items: number; perturb: number; noise: number; seed: number };
  sandbox: string;
  drop: { allowed: number; outcome: Outcome } | null;
  outputs: { allowed: number | null; floor: number; difference: OutputDifference }[];
  again: { items: number; outputs: OutputDifference[] };
  samples: ValidationSample[];
  diagnostics: Diagnostic[];
  times: { models_s: number; again_s: number; data_s: number; whole_s: number };
}

// An output that is an image, or the slice of a volume in which the largest difference lies. Planes are levels of 16 bits,
// base64: of each pixel the higher byte, row by row, then of each the lower one. 0 … 65532 stands for low … high of its
// scale; 65533 is minus infinity, 65534 infinity, 65535 NaN. Where the image was larger it was thinned: mean of the values
// for the first two planes, largest for the difference.
export interface DifferencePicture {
  output: string;
  item: number;
  name: string; // of the data item
  where: string; // "channel 0", "channel 0, slice 12 of 32"; empty: the whole output
  rows: number;
  columns: number;
  full_rows: number; // before thinning
  full_columns: number;
  scale: { low: number; high: number }; // of reference and candidate
  max_difference: number; // the difference's scale is 0 … this
  plane: number[]; // indices of its elements, but the last two
  largest: { row: number; column: number } | null; // before thinning
  reference: string;
  candidate: string;
  difference: string; // |candidate - reference|; 65534 where one is not finite and the other is
}

// --- infermeter.variants/1 ---

export interface PlainEstimate {
  value: number;
  interval: Interval | null;
}

export interface Variants extends Answered {
  run: string;
  model: string;
  machine: string;
  batch_sizes: number[];
  pareto_figures: string[];
  variants: {
    label: string;
    kind: string;
    failure: string | null;
    model: Model | null;
    size_bytes: number | null;
    measurements: {
      subject: number;
      label: string;
      batch_size: number;
      latency_p50_s: PlainEstimate | null;
      throughput_ips: PlainEstimate | null;
      speed_up: PlainEstimate | null;
      memory_peak_bytes: PlainEstimate | null;
      device_memory_peak_bytes: PlainEstimate | null;
    }[];
    output_error: number | null;
    accuracy: number | null;
    pareto: { place: "front" | "dominated" | "not_placed"; dominated_by: string[] };
    recommendations: { kind: string; batch_size: number; value: number; interval: Interval | null; text: string }[];
    remarks: string[];
  }[];
  notes: string[];
}

// --- infermeter.layers/1 ---

export interface LayersSide {
  label: string;
  model: string;
  backend: string;
  executed: Record<string, string>;
}

export interface Layers extends Answered {
  reference: LayersSide;
  candidate: LayersSide;
  item: string;
  sandbox: string;
  note: string;
  least_jump: number;
  first_difference: number | null; // indices into tensors
  jump: number | null;
  worst: number | null;
  before_jump: number | null;
  tensors: {
    name: string;
    candidate_name: string;
    matched_by: "order" | "name";
    node: string;
    operator: string;
    position: number;
    dtype: string;
    candidate_dtype: string;
    shape: number[];
    reason: string;
    elements: number;
    error: number | null;
    rounding_floor: number;
    relative_l2: number | null;
    relative_l1: number | null;
    relative_max: number | null;
    max_absolute: number | null;
    max_absolute_index: number;
    mae: number | null;
    rmse: number | null;
    cosine: number | null;
    non_finite_apart: number;
  }[];
  reference_only: string[];
  candidate_only: string[];
}

// --- infermeter.history/1 ---

export interface HistoryRun {
  run: string;
  at: string;
  label: string;
  value: number;
  low: number | null;
  high: number | null;
  processes: number;
  runtime_version: string | null;
  model_sha256: string | null;
  git_commit: string | null;
  infermeter_version: string | null;
}

export interface History extends Answered {
  metric: string;
  unit: "s" | "items/s" | "bytes" | "";
  lower_is_better: boolean;
  this_machine: string;
  machines: { machine: string; hostname: string | null; processor: string | null }[];
  hidden_runs: number;
  series: {
    series: string;
    machine: string;
    runs: number;
    first_at: string | null;
    last_at: string | null;
    last_value: number | null;
    left_out: number;
    disturbed: number; // runs left out, too
    too_few: boolean;
    levels: { first_run: string; last_run: string; runs: number; value: number; sd_log: number }[];
    changes: {
      run: string;
      at: string;
      index: number;
      change: number; // share: 0.05 is 5 % more
      worse: boolean;
      by_scan: boolean;
      by_e_divisive: boolean;
      statistic: number;
      p: number;
      context: { what: string; before: string; after: string; runs_off: number }[];
    }[];
    alarm: { run: string; confirm: string | null; why_not: string | null } | null;
    values: HistoryRun[] | null;
  }[];
}
