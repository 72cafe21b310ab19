// Made by web/types.mjs from docs/schema/*.schema.json.

// What the HTML report shows, and what can be downloaded from it: JSON reports (run.schema.json, gate.schema.json, …, named by their $id) as they are, and what people see first. Base units: seconds, bytes, items. What was not measured is null, never 0.
export interface Report {
  schema: "infermeter.report/1";
  infermeter_version: string;
  title: string;
  about?: string; // of a study: what it asks, and how
  notices: Notice[]; // about the whole: reports of different machines
  parts: Part[];
}

// none: not asked for, or nothing to judge
export type Outcome = "pass" | "fail" | "inconclusive" | "none";

export type Tone = "plain" | "good" | "warning" | "bad" | "faint";

export interface Sentence {
  tone: Tone;
  text: string;
}

// what is shown first
export interface Overview {
  headline: {
    verdict: string;
    tone: Tone;
    text: string;
  }; // the worst outcome, else the answer to what was asked, over all subjects
  margin: number; // a share: effects below it are no difference
  effects: Effect[]; // of runs: each candidate against its baseline, and baselines that failed
  since_last: SinceLast | null; // of runs: against the last finished run before it that has the same labels; null: the store has none
}

export interface SinceLast {
  run: string;
  at: string;
  subjects: {
    subject: number; // index into run.subjects
    change: number | null; // of latency_p50, a share of its earlier value
    interval: Interval | null; // over processes; the runs are not paired
    direction: "faster" | "slower" | "equivalent" | "unresolved";
  }[];
  differences: string[]; // machine, software, models and settings that differ, a sentence each
}

export interface Effect {
  subject: number; // index into run.subjects
  baseline: number | null; // likewise; null: it is one itself, and failed
  group: string; // what it shares with its baseline: model, batch size, dtype
  label: string; // its label without that
  against: string; // the baseline's
  metric: string;
  change: number | null; // of the metric, a share of the baseline's value: -0.1 is 10 % less
  interval: Interval | null; // of the change
  verdict: "faster" | "slower" | "better" | "worse" | "same" | "undecided" | "outputs differ" | "failed" | "not measured";
  tone: Tone;
}

// diagnostics that say the same, once; of many messages the first and how many more there are
export interface Notice {
  id: string;
  severity: "error" | "warning" | "info";
  messages: string[];
  remedy: string;
}

export interface Recommendations {
  subject: string; // label
  sentences: Sentence[];
}

export interface Part {
  kind: "run" | "gate" | "validation" | "variants" | "layers" | "history";
  title: string;
  outcome: Outcome;
  overview: Overview;
  answers: Answer[]; // one for each question asked, the primary one first
  notices: Notice[];
  checks: Check[];
  recommendations: Recommendations[];
  run: Run | null; // of kinds run, gate and variants. `trials[].load` of a load is left out. Times of single iterations are rounded: latencies to six significant digits, not beyond a nanosecond; begins to about a hundredth of a usual iteration, not beyond a microsecond. With more than 250,000 iterations those of each trial are thinned in proportion: where `samples` holds fewer than `iterations`, it holds the first, the last, and the smallest and the largest of each of equally long stretches, in order; memory_after_iteration_bytes holds the same ones. Every figure is of all iterations
  figures: RunFigures | null; // of `run`
  gate: Gate | null;
  validation: Validation | null;
  difference_pictures: DifferencePicture[]; // of `validation`
  variants: Variants | null;
  layers: Layers | null;
  history: History | null;
  graphs: GraphLayout[]; // of the graphs of operators in `run`, of those that have edges; of the graph in `layers`
}

// where the nodes of a graph stand in its picture. All are of one size; lengths are in widths of a node
export interface GraphLayout {
  subject: number | null; // index into run.subjects, whose operators[].op are the nodes; null: the nodes are those of layers.graph
  layers: number;
  width: number;
  layer: number[]; // per node, from the top
  x: number[]; // per node: its middle
  bends: {
    node: number;
    x: number[];
  }[]; // where the results of a node pass the layers beneath it, from the next on: an edge goes through as many of them as lie above its reader
  apart: number; // nodes without an edge: in rows of their own at the end
  straight: number; // nodes whose long edges have no bends, as there would be more than 200,000
  left_out: number; // nodes beyond the first 20,000
}

export interface GenerationTimes {
  time: "ttft" | "itl" | "tpot";
  log: boolean; // the bins are equally wide on a logarithmic axis: the times span a factor of more than 20
  edges_s: number[]; // of the bins, ascending, one more than there are bins
  subjects: {
    subject: number; // index into run.subjects
    n: number; // times, of all its processes
    shares: number[]; // of them, in each bin
  }[];
}

export interface CoursePoint {
  first: number; // tokens; each number below 16 is a point, and 8 for each power of two from there on
  last: number;
  tokens_mean: number; // of the times here
  n: number; // times, of all processes
  p50_s: CourseTime; // geometric mean over processes of their medians
  p90_s: CourseTime; // the same, of processes with 10 times here
}

export interface GenerationCourse {
  time: "itl" | "ttft"; // itl: against the position in the answer, the pieces that were there; ttft: against the tokens of the prompt
  subjects: {
    subject: number; // index into run.subjects
    growth_s: CourseTime; // seconds per token: slope of a line through the medians of a process, weighted by how many times each has; mean over processes
    points: CoursePoint[];
  }[];
}

// what pictures need besides the run's own report, made of every iteration that the run's figures are made of
export interface RunFigures {
  quantile_levels: number[]; // ascending, from 0 to 1: of the pooled iterations
  process_levels: number[]; // the same for single processes
  quantile_needs: number[]; // iterations that it takes to show each of quantile_levels as a percentile
  process_needs: number[]; // the same of process_levels
  distributions: Distribution[]; // of subjects that have iterations
  ratios: PairRatio[]; // of latency_p50 between any two subjects of a group, both ways; of groups of more than 40 subjects, between each and the first
  fronts: {
    against: "accuracy" | "output_error" | "memory_peak" | "device_memory_peak" | "model_size";
    batch_size: number;
    front: number[]; // indices into run.subjects
  }[]; // the Pareto front of latency_p50 and one other figure, for each group and batch size of at least two subjects
  generation: GenerationTimes[]; // of answers that came piece by piece: how often which time occurred, in bins that all subjects share
  courses: GenerationCourse[]; // of answers that came piece by piece: how a time goes with a number of tokens; empty where no subject has two points
}

export interface CourseTime {
  value: number | null;
  interval: Interval | null;
  processes: number; // that have a value
}

export interface Distribution {
  subject: number; // index into run.subjects
  n: number;
  quantiles_s: number[]; // at quantile_levels (type 7), to seven digits
  processes: {
    process: number;
    position: number;
    n: number;
    quantiles_s: number[]; // at process_levels, to seven digits
    fences_s: {
      severe_low: number;
      mild_low: number;
      mild_high: number;
      severe_high: number;
    }; // Tukey's: beyond the mild ones mild outliers, beyond the severe ones severe
  }[];
}

export interface PairRatio {
  baseline: number;
  subject: number;
  value: number | null; // baseline's time / subject's: 2 is twice as fast
  interval: {
    low: number;
    high: number;
    confidence: number;
  } | null;
}

export interface DifferencePicture {
  output: string;
  item: number;
  name: string; // of the data item
  where: string; // "channel 0, slice 12 of 32"; empty: the whole output
  rows: number;
  columns: number;
  full_rows: number; // before thinning
  full_columns: number;
  scale: {
    low: number;
    high: number;
  }; // what the levels 0 and 65532 of reference and candidate stand for
  max_difference: number; // what the level 65532 of the difference stands for; 0 stands for 0
  plane: number[]; // indices of an element of the plane, but the last two
  largest: {
    row: number;
    column: number;
  } | null; // where the largest difference is, before thinning; null: there is none
  reference: string; // base64 of levels of 16 bits: of each pixel the higher byte, row by row, then of each the lower one. Of what was thinned the mean. 65533 is minus infinity, 65534 infinity, 65535 NaN
  candidate: string;
  difference: string; // |candidate - reference|, of what was thinned the largest; 65534 where one of the two is not finite and the other is not the same
}

// What `infermeter run --format json` and `infermeter report --format json` write. Base units: seconds, bytes, items; the unit is in the key or beside the value. What was not measured is null, never 0.
export interface Run {
  schema: "infermeter.run/1";
  id: string;
  created_at: string;
  finished: boolean;
  exit_code: number; // that the run deserves
  joined: {
    id: string;
    created_at: string;
    machine: string; // fingerprint
    unmatched: string[]; // labels of its subjects that the other run does not have
    host?: string; // where machines are compared (`--compare machines`): what the machine is called
  }[]; // empty; or the two stored runs that were compared and were not interleaved (`infermeter compare RUN RUN`), or the machines that were compared, each with its run, the baseline first: the report is then of no run of its own
  answers: Answer[]; // what is said first: what went wrong, then what was asked
  checks: Check[]; // the checklist
  plan: Plan;
  environment: Environment;
  models: Model[]; // one per subject, in the plan's order
  subjects: RunSubject[];
  comparison: Comparison | null; // the answer to plan.question; null without one
  tuning: Tuning | null; // what a race of settings says; null without one
  machine_noise: {
    measured_at: string;
    subject: string;
    metric: string;
    pairs: number;
    standard_deviation: number | null; // of a pair's difference of natural logarithms
  } | null; // of a program compared with itself on this machine (infermeter doctor --aa), as known when the run began
  energy_reason: string | null; // why trials[].energy_j is null; null where it is not
  trials: Trial[]; // in the order in which they ran
  side_trials: Trial[]; // pilots and leak trials, in the order in which they ran; no figure is made from them
  profile: Profile | null; // where the time of an inference goes, from trials of their own; null: nothing was profiled
  diagnostics: Diagnostic[];
}

// an answer as data, and in words
export interface Answer {
  topic: "speed" | "fastest" | "memory" | "power" | "noise" | "level" | "requests" | "outputs" | "accuracy" | "completion" | "leak" | "profile" | "source" | "gate" | "expectation" | "agreement" | "repetition" | "values" | "history" | "layers" | "front" | "prediction" | "design" | "tuning" | "bound" | "load"; // what was asked: speed: is a subject faster than its baseline, by `metric`; level: how fast it is, where nothing is compared with it; …
  kind: "faster" | "slower" | "equivalent" | "undecided" | "unknown" | "fastest" | "least_memory" | "less_memory" | "more_memory" | "detectable" | "machine_noise" | "measured" | "not_measured" | "one_request_at_a_time" | "imported" | "outputs_agree" | "outputs_differ" | "outputs_undecided" | "outputs_not_compared" | "outputs_not_comparable" | "more_accurate" | "less_accurate" | "accurate_enough" | "not_accurate_enough" | "failed" | "leak" | "no_leak" | "explained" | "not_explained" | "pass" | "fail" | "inconclusive" | "does_not_repeat" | "not_finite" | "constant" | "equal" | "better" | "worse" | "steady" | "part" | "grow" | "rounding_only" | "on_front" | "dominated" | "as_predicted" | "less_than_predicted" | "more_than_predicted" | "predicted" | "not_interleaved" | "searched" | "best" | "equals" | "out" | "valid" | "not_valid"; // what was found. faster and slower: better and worse by `metric`, whatever it is; undecided: the interval does not decide; unknown: there is no figure or no interval
  tone: "plain" | "good" | "warning" | "bad" | "faint";
  verdict: string; // the kind in words: faster, slower, cannot tell, outputs differ, failed, pass, …
  text: string; // the sentence
  subjects: number[]; // indices into the run's subjects; of a validation and of layers 0 is the baseline and 1 the candidate; of a history into its series; of variants into the variants. Of `dominated` the first is dominated by the others
  baseline: number | null;
  about: string; // what else it is about: an output, an expectation, a tensor, a counter; empty: nothing
  place: number | null; // of that in the report's list of them
  metric: string; // what `value` is of; empty: there is no figure
  value: number | null; // of topic speed: above 1 the subject is better than the baseline, whatever the metric: baseline / subject of a metric of which less is better, the other way round otherwise. Of other topics in `unit`
  interval: AnswerInterval | null;
  direction: "faster" | "slower" | "equivalent" | "unresolved" | null; // of topic speed: what the interval says, whether or not outputs agree
  unit: string; // x, s, items/s, bytes, share, …
  n: number; // of what the value is made; 0: it does not say
  n_of: string; // iterations, processes, pairs, rows, items, trials, …
  processes: number;
  reason: string; // why there is no value or no interval, or what is known beside them
  needed: AnswerNeed | null; // what would settle it
  besides: Aside[]; // what is said in the same sentence: memory, outputs
}

export interface Aside {
  topic: Answer["topic"];
  kind: Answer["kind"];
  tone: Answer["tone"];
  verdict: Answer["verdict"];
  subjects: Answer["subjects"];
  baseline: Answer["baseline"];
  about: Answer["about"];
  place: Answer["place"];
  metric: Answer["metric"];
  value: Answer["value"];
  interval: Answer["interval"];
  direction: Answer["direction"];
  unit: Answer["unit"];
  n: Answer["n"];
  n_of: Answer["n_of"];
  processes: Answer["processes"];
  reason: Answer["reason"];
  needed: Answer["needed"];
}

export interface AnswerInterval {
  low: number | null;
  high: number | null;
  confidence: number;
}

export interface AnswerNeed {
  more: number;
  what: "pairs" | "processes" | "rows";
  total: number;
  seconds: number | null; // about how long that takes
}

// a row of the checklist
export interface Check {
  name: string;
  outcome: "pass" | "fail" | "inconclusive" | "none"; // none: not asked for, or nothing to check
  detail: string;
  caveat: boolean; // it says how far to trust the answers, and decides nothing: a failed one fails nothing
}

export interface Interval {
  low: number;
  high: number;
  confidence: number;
}

export interface Metric {
  unit: "s" | "items/s" | "bytes";
  lower_is_better: boolean;
  value: number | null; // null: cannot be determined; `note` says why
  interval: Interval | null; // across worker processes; null with fewer than two
  n: number; // iterations behind it
  processes: number; // worker processes behind it
  method: string; // how the value and the interval were reached
  note: string; // why there is no value, or what to mind; "" if nothing
  within: Interval | null; // percentiles: the order-statistic interval within the pooled iterations
}

// what the subject itself counted: the mean over processes of the values as they are
export interface Counter {
  name: string;
  unit: string; // as the subject gives it; "" or "1": none
  value: number | null; // null: cannot be determined; `note` says why
  interval: Interval | null; // across worker processes; null with fewer than two
  n: number; // values behind it: one per process that gave one
  processes: number; // worker processes that gave a value; `note` says so where others did not
  method: string; // how the value and the interval were reached
  note: string; // why there is no value, or what to mind; "" if nothing
}

// baseline / candidate where lower is better, candidate / baseline otherwise: above 1 the candidate is better
export interface Estimate {
  value: number | null; // null: cannot be determined; `note` says why
  interval: Interval | null; // across worker processes; null with fewer than two
  n: number; // iterations behind it
  processes: number; // worker processes behind it
  method: string; // how the value and the interval were reached
  note: string; // why there is no value, or what to mind; "" if nothing
}

export interface Diagnostic {
  id: string; // one of a closed list; ids are never renamed
  severity: "info" | "warning" | "error";
  message: string; // what was seen, with its figures
  remedy: string; // what can be done about it
  about: string; // subject or trial; "": the whole run
}

export interface Times {
  begin_s: number[]; // seconds since the trial's own origin
  latency_s: number[]; // end less begin
}

export interface PlannedSubject {
  label: string;
  model: string;
  backend: string;
  device: string;
  dtype: "float32" | "float16" | "bfloat16";
  batch_size: number;
  threads: number; // 0: as many as the plan's processors
  dimensions: Record<string, string>;
  batch_axes: Record<string, string>; // which dimension of an input is the batch, as asked for: a number or none; the name "" is all inputs
  options: Record<string, string>;
  load?: Record<string, string>; // how requests arrive: scenario, rate, concurrency, arrivals, samples, find_rate, goodput, spin (docs/load.md); absent: one inference after the other
  environment?: Record<string, string>; // variables that its workers were given; absent: none
  backend_library: string;
  group: number; // subjects of one group are compared with its first
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
  settings: number; // of the whole space; more than subjects: those were drawn
  left_out: {
    setting: string;
    reason: string;
  }[];
}

export interface Question {
  metric: string;
  margin: number;
  alpha: number;
  until_resolved: boolean;
  all_pairs: boolean;
  drop_disturbed: boolean;
  budget_s: number | null;
}

export interface Plan {
  subjects: PlannedSubject[];
  processes: number; // worker processes per subject
  warmup: number;
  count_first: boolean; // even the first inference was timed and counts (`--warmup none`)
  iterations: number | null;
  duration_s: number | null;
  automatic_warmup: boolean; // warm-up is chosen from pilots; `warmup` holds where they fail
  automatic_processes: boolean; // As many processes as it took, at most `processes` (--processes auto).
  precision: number; // With automatic_processes: the share within which differences and intervals are small enough; smaller differences count as none in any run.
  budget_s: number | null; // With automatic_processes: no round begins that would end later, in seconds of all timed trials.
  repeat_disturbed: number; // So many disturbed rounds or pairs, at most, are measured again and enter no figure.
  automatic_iterations: boolean;
  leak_iterations: number; // of a leak trial per subject; 0: none
  profile_processes: number; // profile trials per subject; 0: none
  profile_iterations: number;
  stacks: "auto" | "dwarf" | "off"; // how call stacks are sampled in profile trials
  python_profiler: "off" | "py-spy" | "cprofile" | "pyinstrument"; // what looks at Python code in profile trials
  tuning: PlannedTuning | null; // what a race is to answer; then `processes` is the sum of its blocks; null without one
  question: Question | null; // what a comparison is to answer; then `processes` is the most pairs
  load_timeout_s: number | null;
  run_timeout_s: number | null;
  memory_limit_bytes: number; // 0: 80 % of what is available
  seed: number; // of the order of trials
  data: {
    source: string;
    distributions: Record<string, string>; // per input; the key "" stands for all
    limit: number;
    seed: number; // of synthetic inputs
    labels: string; // the file that says what is right; empty: the data's own labels, where they have any
  };
  outliers: string;
  sandbox: "auto" | "strict" | "off";
  compare_outputs: boolean;
  cpus: number[];
  output_dir: string;
  backend_path: string;
  order: {
    subject: number;
    process: number;
  }[]; // all trials in the order in which they are run
}

export interface Environment {
  nodes?: Environment[]; // of a run on a cluster: each node as it was; absent: the run was measured on one machine. The other members are those of the node that began first
  nodes_differ_in?: string[]; // members in which the nodes differ, but for their names and for what changes from minute to minute; beside nodes
  machine: string; // a digest of what makes two machines comparable
  processor: string;
  architecture: string;
  flags: string[];
  processors_online: number;
  processors_usable: number;
  quota_processors: number | null;
  cores: number;
  sockets: number;
  numa_nodes: number;
  smt_active: boolean;
  caches: {
    kind: string;
    size_bytes: number;
    shared_by: number;
  }[];
  memory_total_bytes: number;
  memory_available_bytes: number;
  swap_used_bytes: number;
  governor: string | null;
  turbo: boolean | null;
  aslr: number | null;
  virtualization: string;
  kernel: string;
  distribution: string;
  hostname: string;
  load_1min: number | null;
  perf_event_paranoid: number | null;
  hardware_counters: boolean;
  invariant_tsc: boolean;
  landlock_abi: number | null;
  seccomp: boolean;
  cgroup_v2: boolean;
  infermeter_version: string;
  build: string;
  git_commit: string; // of the folder the run was started in; "": no repository
  command: string;
}

export interface Model {
  name: string;
  path: string;
  format: string;
  sha256: string;
  size_bytes: number; // of what the runtime executes, where it reports that; else of the file with its weights files; 0: not known
  parameters: number | null;
  nonzero_parameters: number | null; // null: not counted
  weight_files: string[];
  from_zoo: boolean;
  made: string; // how it was made of another model; empty: it was given
}

export interface Parting {
  item: number; // data item
  position: number; // of the first value that differs, from 0
  length: number; // values of each
  before: number[]; // the last values before it, the same in both; at most 8
  reference: number[]; // from it on; at most 16
  candidate: number[];
  before_text?: string; // what both have said before it, by the models' own tokenizer; absent: none is known
  reference_text?: string; // how the reference goes on, from the last whole character that both have
  candidate_text?: string;
}

export interface OutputDifference {
  name: string;
  dtype: string;
  shape: number[];
  comparable: boolean;
  reason: string;
  within_tolerance: boolean;
  undecided: string; // why being within the tolerance says nothing; "": it says something
  element_count: number;
  mismatched: number;
  max_absolute: number | null; // null where a value is finite on one side only, as all figures of errors are then
  max_absolute_item: number; // the data item it is in
  max_absolute_index: number;
  max_absolute_place: string; // where that is, as sentences say it; empty: nothing differs
  reference_at_max: number | null;
  candidate_at_max: number | null;
  mae: number | null; // mean |c - r|
  mse: number | null; // mean (c - r)²
  rmse: number | null; // √mse
  relative_l1: number | null; // Σ|c - r| / Σ|r|
  relative_l2: number | null;
  relative_max: number | null; // max |c - r| / max |r|
  cosine: number | null;
  pearson: number | null; // null: one of the two is constant
  data_range: number | null; // the reference's largest less its smallest value
  psnr_db: number | null; // null: the outputs are equal, or the reference is constant
  ssim: number | null; // mean structural similarity; null: no image
  top1_agreement: number | null;
  top5_agreement: number | null; // null: no classifier, or not more than five classes
  kl_divergence: number | null; // mean over rows of Σ p ln(p / q) in nats, p and q the reference's and the candidate's distributions over classes; null: no classifier, or infinite
  agreed_prefix: number | null; // share of values before the first that differs, over items; null: no integers in one dimension
  nan_reference: number;
  nan_candidate: number;
  inf_reference: number;
  inf_candidate: number;
  non_finite_apart: number; // NaN or infinite in one and not the same in the other
  tolerance_relative: number;
  tolerance_absolute: number;
  tolerance_floor: number; // differences up to this say nothing
  partings?: Parting[]; // where rows of integers, as answers in tokens are, stop being the same: of the first 8 items that part; absent: there is none
}

// outputs compared with labels or masks; null: there are none
export interface Accuracy {
  output: string; // that was read as scores
  value: number | null; // of rows, or of pixels, that are right
  interval: Interval | null; // Wilson (1927), over rows; null of pixels
  labels: {
    rows: number; // that have a label
    top1: number; // of them: the largest score is the label's
    top5: number | null; // of them: the label's is among the five largest; null with five classes or fewer
    top5_share: number | null; // top5 / rows
    classes: {
      label: number;
      rows: number;
      right: number;
    }[]; // those among the labels
  } | null;
  masks: {
    pixels: number;
    right: number;
    mean_iou: number | null; // over classes
    mean_dice: number | null; // over classes
    classes: {
      label: number;
      truth: number;
      predicted: number;
      both: number;
      iou: number | null; // both / (truth + predicted - both)
      dice: number | null; // 2 both / (truth + predicted)
    }[]; // those in the truth or predicted; counts of pixels
  } | null;
  reference: number | null; // index of the first subject of its group; null: it is that
  change: {
    value: number; // this subject's share less the reference's
    interval: Interval | null; // Newcombe (1998), paired, method 10
    p: number; // McNemar's exact test with mid-p
    both: number;
    reference_only: number;
    candidate_only: number;
    neither: number;
  } | null;
  perplexity?: {
    value: number | null; // e to the mean over texts of the mean log loss of their tokens; null: a token of the texts has probability 0
    texts: number;
    increase: number | null; // this one's / the reference's - 1; null: it is the reference, or there is none of the same texts
    interval: Interval | null; // of the increase: Student's t over texts, on logarithms
  }; // of texts, whose labels are the next tokens; absent of other data
}

export interface Outputs {
  reference: number; // index of the subject whose outputs were the reference
  agree: boolean; // every output is comparable and within its tolerance, and that says something
  undecided: boolean; // nothing differs, but the outputs prove nothing
  items: number;
  differences: OutputDifference[];
  diagnostics: Diagnostic[];
}

export interface KvCache {
  bytes_per_token: number; // keys and values of one token in all layers, in the type in which they are kept
  context: number; // most tokens that the model knows, prompt and answer together
  bytes: number; // of so many tokens
}

export interface Leak {
  verdict: "leak" | "no_leak" | "cannot_tell";
  bytes_per_iteration: number;
  interval: Interval | null;
  from_iteration: number;
  growth_bytes: number;
  detectable_bytes_per_iteration: number | null; // of no leak: what a leak must add in each iteration for this trial to have seen it
  reason: string;
}

export interface RunSubject {
  index: number; // into plan.subjects and models
  label: string;
  model: string;
  backend: string;
  batch_size: number;
  group: number;
  baseline: number | null; // index of the subject it is compared with; null: it is the first of its group
  trials_ok: number;
  trials_partial: number; // ended early with some iterations
  trials_failed: number; // with none
  metrics: Record<string, Metric>; // by name: latency_p50, latency_p90, latency_p95, latency_p99, latency_mean, latency_std, latency_min, latency_max, throughput, memory_peak, device_memory_peak, load_time, compile_time, first_inference_time
  counters: Counter[]; // each name once, in the order in which they first come up
  load?: SubjectLoad; // of a subject under load (docs/load.md); absent of others
  ratios: Record<string, Estimate>; // by name of the metric: latency_p50, throughput, memory_peak
  kv_cache?: KvCache; // of a language model, computed from its architecture; absent: not known
  direction: "faster" | "slower" | "equivalent" | "unresolved" | null; // against the baseline, by latency_p50, or as a comparison decided, by its metric; null: nothing to compare with
  leak: Leak | null;
  outputs: Outputs | null;
  accuracy: Accuracy | null;
  outliers: {
    mild: number;
    severe: number;
    removed: number;
    total: number;
  };
  diagnostics: Diagnostic[];
}

export interface MemoryTimeline {
  recorded: number; // points that the record holds: with every iteration all of them are here; otherwise 60 at most, each phase with its ends and extremes
  at_s: number[]; // since the trial's own origin, that of samples
  phase: ("start" | "load" | "compile" | "inputs" | "first_inference" | "warmup" | "timed" | "outputs" | "done")[];
  rss_bytes: number[]; // the highest reading of the stretch of time that the point stands for
}

export interface Trial {
  subject: number;
  process: number;
  position: number; // in the order of the plan
  purpose: "timed" | "pilot" | "leak" | "profile";
  started_at: string;
  wall_s: number;
  end: "ok" | "load_failed" | "run_failed" | "crashed" | "timeout" | "out_of_memory" | "interrupted";
  phase: "start" | "load" | "compile" | "inputs" | "first_inference" | "warmup" | "timed" | "outputs" | "done";
  signal: number | null;
  message: string;
  usage: boolean; // the failure is the user's to mend
  stderr_tail: string;
  open_s: number | null;
  load_s: number | null;
  compile_s: number | null;
  first_inference_s: number | null;
  ready_s: number | null;
  iterations: number;
  warmup_iterations: number; // all of them; `warmup_samples` has the first 4096
  items_per_iteration: number;
  clock: {
    name: string; // "tsc" or "monotonic".
    tick_s: number | null; // Seconds per tick.
    read_cost_s: number | null; // Seconds that one reading takes.
  };
  memory: {
    rss_before_load_bytes: number | null; // Resident set before the model is loaded.
    rss_after_load_bytes: number | null; // Resident set with the model loaded.
    rss_peak_load_bytes: number | null; // Highest resident set up to the end of the first inference.
    rss_peak_inference_bytes: number | null; // Highest resident set during warm-up and timed loop.
    pss_after_load_bytes: number | null; // Proportional set size with the model loaded.
    pss_after_inference_bytes: number | null; // Proportional set size after the timed loop.
    device_now_bytes: number | null; // Of the device, after the timed loop.
    device_peak_bytes: number | null; // Of the device, at its peak since the model was loaded.
    peak_reset: boolean; // False: rss_peak_inference includes loading.
  };
  memory_timeline: MemoryTimeline; // resident memory over the worker's life as the launcher saw it, every 20 ms until warm-up and every 50 ms from there on; arrays of equal lengths. Empty where the trial ran within the caller's process or ended at once
  noise: {
    foreign_cpu: number | null; // Processors used by others; 1: one whole core.
    steal: number | null; // Share of wall time stolen by the hypervisor, per processor.
    own_cpu: number | null; // Processors used by the process itself.
    involuntary_switches: number | null; // Times that it lost its processor to another.
    voluntary_switches: number | null; // Times that it waited.
    major_faults: number | null; // Pages that were read from a disk.
    minor_faults: number | null; // Pages that were mapped.
    pressure_cpu: number | null; // Share of time in which some task waited for a processor.
    throttled_s: number | null; // Seconds lost to a cgroup's quota.
    frequency_before_hz: number | null; // Of the processor, before the loop.
    frequency_after_hz: number | null; // Of the processor, after the loop.
    temperature_before_c: number | null; // Of the hottest sensor, before the loop.
    temperature_after_c: number | null; // Of the hottest sensor, after the loop.
    threads: number | null; // Of the process, after the loop.
    processors: number | null; // That it may use.
  };
  energy_j: number | null; // of the timed loop: all packages of the processor and whatever ran on them
  executed: Record<string, string>; // as the back end reports it: dtype, threads, device, provider, runtime, runtime_version, …
  counters: {
    name: string;
    unit: string;
    value: number | null;
  }[];
  outputs: {
    name: string;
    dtype: string;
    shape: number[];
    element_count: number;
    nan_count: number;
    inf_count: number;
    batch_axis: number | null; // the dimension that is the batch; null: it is one whole
  }[];
  input_digest: string;
  output_digest: string;
  diagnostics: Diagnostic[];
  warmup_samples?: Times;
  samples?: Times; // all of `iterations`; in the document of an HTML report (report.schema.json) there may be fewer, extremes kept
  memory_after_iteration_bytes?: number[]; // resident memory after each timed iteration of a leak trial; empty otherwise; absent without samples
  load?: LoadRecord; // of a trial in which requests came by a schedule (docs/load.md); samples are then the requests that succeeded, each from its arrival. Absent of other trials, without samples and in the document of an HTML report
  generation?: GenerationRecord; // of a trial whose answers came piece by piece (docs/load.md). Absent of other trials and without samples
}

export interface LoadProcess {
  process: number;
  position: number;
  open_loop: LoadRecord["open_loop"];
  clients: LoadRecord["clients"];
  samples: LoadRecord["samples"];
  due: LoadRecord["due"];
  issued: LoadRecord["issued"];
  completed: LoadRecord["completed"];
  failed: LoadRecord["failed"];
  arrivals_s: LoadRecord["arrivals_s"];
  duration_s: LoadRecord["duration_s"];
  gave_up: LoadRecord["gave_up"];
  checked: LoadRecord["checked"];
  mismatched: LoadRecord["mismatched"];
  largest_difference: LoadRecord["largest_difference"];
  steps: LoadRecord["steps"];
  timeline: {
    bin_s: number;
    arrived: number[];
    completed: number[];
    failed: number[];
    in_flight: number[];
    slowest_s: number[];
  }; // per bin of bin_s; arrays of equal lengths
  percentiles: {
    share: number[];
    response_s: number[];
    service_s: number[];
    lag_s: number[];
  }; // at each share of the requests; of a time that was not recorded the list is empty
  errors: {
    message: string;
    count: number;
  }[];
}

export interface SubjectLoad {
  asked: Record<string, string>; // how requests come: scenario, rate, concurrency, arrivals, samples, find_rate, goodput, spin
  bounds: {
    figure: string; // response_p99; of goodput response, ttft, tpot
    bound_s: number;
  }[]; // what was asked of times: of find_rate the percentile, of goodput each request
  valid: boolean; // every rule of docs/load.md was kept
  requests: number; // that succeeded, of the process with the fewest
  findings: {
    rule: "rate" | "late" | "errors" | "enough" | "stationary" | "gave_up" | "outputs";
    value: number;
    bound: number;
    unit: "share" | "requests"; // of value and bound
    message: string;
    remedy: string;
  }[]; // the rules that were not kept, each of the process furthest from it
  figures: Record<string, {
    unit: string;
    lower_is_better: boolean;
    holds: boolean; // false: a response time that is not what it seems to be, as `note` says: of too few requests, of more than the subject can take, of requests that came all at once
    value: number | null;
    interval: Interval | null;
    n: number;
    processes: number;
    method: string;
    note: string;
  }>; // by name: offered_rate, achieved_rate, max_rate, samples_rate, response_mean, response_p50 … response_p99_9, response_max, service_p50, service_p99, lag_p50, lag_p99, late_p99, in_flight_mean, in_flight_max, failed, failed_share, goodput, goodput_share, and of answers that came piece by piece ttft_p50 … tpot_p99, itl_p50, itl_p99, output_tokens_rate, output_tokens_mean, prompt_tokens_mean; the same as in counters
  processes: LoadProcess[];
  error_kinds: {
    kind: "refused" | "reset" | "timeout" | "4xx" | "5xx" | "bad answer" | "other";
    count: number;
  }[]; // classes of failed requests, of all processes together; those of which there are any
}

// buckets are linear within each power of two, 1024 to an octave: bucket b below 1024 holds b ticks, bucket 1024 o + i (o from 1) holds (1024 + i) 2^(o - 1) and what follows, up to the next one
export interface LoadHistogram {
  tick_s: number;
  counts: number[][]; // bucket and how many; ascending, none is 0
}

export interface GenerationRecord {
  answers: number;
  parts: number; // pieces with content, of all answers
  counted: number; // answers whose tokens are known; where the server does not say it, each piece counts as one
  output_tokens: number; // of these answers
  counted_by_server: number; // answers whose tokens the server reported
  prompts_counted: number;
  prompt_tokens: number; // of these prompts
  duration_s: number; // in which answers came; of inferences one after the other their sum
  ttft: LoadHistogram; // from the begin, of a load from the arrival, to the first piece
  itl: LoadHistogram; // from one piece to the next, of all answers
  tpot: LoadHistogram; // (end - first piece) / (tokens - 1) of each answer
  itl_by_position: TimesOfTokens[]; // ITL by how many pieces of the answer were there
  ttft_by_prompt: TimesOfTokens[]; // TTFT by the tokens of the prompt, where they are known
}

// times of what had first to last tokens; each number below 16 is by itself, and there are 8 for each power of two from there on
export interface TimesOfTokens {
  first: number;
  last: number;
  tokens_mean: number;
  count: number; // times
  p50_s: number;
  p90_s: number | null; // null: fewer than 10 times
}

export interface LoadRecord {
  open_loop: boolean; // arrivals did not wait for completions
  clients: number; // most requests in flight
  samples: number; // inferences to a request
  due: number; // requests whose arrival came
  issued: number;
  completed: number;
  failed: number;
  good?: number; // of the completed ones, those within all bounds of load.goodput; absent: there are none
  kept: number; // of the completed ones in samples
  arrivals_s: number; // from the beginning to the end of arrivals
  duration_s: number; // from the beginning to the last completion
  gave_up: boolean; // requests were still waiting long after the last arrival
  response: LoadHistogram; // completion - arrival, of all that succeeded
  service: LoadHistogram; // completion - issue
  lag: LoadHistogram; // issue - arrival
  late: LoadHistogram; // the part of lag in which a client was free and the generator slept too long
  bin_s: number; // width of a bin of the timeline
  timeline: {
    arrived: number;
    completed: number;
    failed: number;
    in_flight: number; // arrived and not ended when the bin ends
    slowest_s: number; // longest response time of what completed here
  }[];
  checked: number; // last answers of clients that were compared with an inference that was run alone
  mismatched: number; // of them, those of another shape or type, or that were no numbers
  largest_difference: number; // of an element of the others, as a share of the largest value of its output
  max_rate: number; // requests per second: the highest that met the objective; 0: it was not sought, or there is none. All else is of the last part, at that rate
  steps: {
    rate: number;
    requests: number;
    response_s: number; // the percentile of the objective
    met: boolean;
  }[]; // rates that were tried while the highest was sought
  errors: unknown[][]; // sentences and how often each
  error_kinds: unknown[][]; // classes of failed requests and how many of each: refused, reset, timeout, 4xx, 5xx, bad answer, other
}

// faster: better by the metric; slower: worse
export type Direction = "faster" | "slower" | "equivalent" | "unresolved";

// of blocks that had no part in choosing; null: there are none
export type ConfirmedPairs = Comparison["exploratory"][number];

export interface TunedSetting {
  subject: number;
  fate: "best" | "equal" | "open" | "worse" | "halved" | "bound" | "outputs" | "load" | "failed" | "not_raced";
  reason: string; // the constraint that it misses, or how it failed
  blocks: number; // of the race that it took part in
  out_after: number | null; // so many of them; 0: before the race; null: it is not out
  behind: number | null; // of the best: a difference of natural logarithms, positive is worse
  behind_interval: Interval | null;
  on_front: boolean; // of objective, latency, memory, size and accuracy
  bounds: {
    constraint: string;
    kept: "yes" | "no" | "unknown";
    value: number | null;
    interval: Interval | null;
    why: string; // there is no value or interval
  }[];
}

// docs/methodology.md, Tuning
export interface Tuning {
  unit: string; // of the objective: s, bytes, items/s, …
  lower_is_better: boolean; // of the objective
  stage: "pilots" | "halving" | "race" | "confirmation" | "ended";
  decided: boolean; // nobody is left beside the best and its equals
  out_of_time: boolean; // the budget, or the number of blocks, ended the race
  blocks: number; // of the race, complete ones
  best: number | null; // a subject
  second: number | null;
  wall_s: number;
  against_default: ConfirmedPairs | null;
  against_second: ConfirmedPairs | null;
  settings: TunedSetting[];
}

export interface Look {
  pairs: number;
  level: number;
  p: number;
  estimate: number;
  interval: Interval | null;
  direction: Direction;
}

export interface PrimaryComparison {
  direction: Direction;
  withheld: string; // why no direction is reported whatever the interval says: two machines, other inputs; empty: it is reported
  baseline: number;
  candidate: number;
  metric: string;
  lower_is_better: boolean;
  pairs: number; // complete ones, whose `differences` these are; `estimate`, `interval` and `p` are of those of the last of `looks`, the other figures of all
  incomplete: number;
  dropped: number;
  baseline_processes: number; // of two runs; 0 of pairs
  candidate_processes: number; // of two runs; 0 of pairs
  estimate: number | null; // Hodges–Lehmann (of two runs: of geometric means), of natural logarithms; positive: the candidate is worse
  interval: Interval | null;
  t_interval: Interval | null;
  sign_interval: Interval | null;
  p: number;
  standard_deviation: number | null;
  spread: number; // how much a pair varies, robust: what the test is up against
  minimum_effect: number | null; // that the looks at these pairs find with 80 % power; of an ended comparison
  more_pairs: number | null;
  differences: number[]; // per complete pair
  looks: Look[];
}

export interface ExploratoryComparison {
  direction: Direction; // what it looks like: better (faster), worse (slower), within the margin (equivalent); it decides nothing
  baseline: number;
  candidate: number;
  metric: string;
  lower_is_better: boolean;
  pairs: number;
  incomplete: number;
  dropped: number;
  baseline_processes: number; // of two runs; 0 of pairs
  candidate_processes: number; // of two runs; 0 of pairs
  estimate: number | null; // Hodges–Lehmann (of two runs: of geometric means), of natural logarithms; positive: the candidate is worse
  interval: Interval | null;
  t_interval: Interval | null;
  sign_interval: Interval | null;
  p: number;
  standard_deviation: number | null;
  spread: number; // how much a pair varies, robust: what the test is up against
  minimum_effect: number | null; // that the looks at these pairs find with 80 % power; of an ended comparison
  more_pairs: number | null;
  differences: number[]; // per complete pair
}

// docs/methodology.md, Comparisons
export interface Comparison {
  paired: boolean; // false: the processes of two runs, which were not interleaved; no pairs, no looks
  pairs: number;
  resolved: boolean;
  steady: boolean;
  ended: boolean;
  wall_s: number;
  primary: PrimaryComparison[];
  exploratory: ExploratoryComparison[];
}

export interface OperatorRoofline {
  flops: number; // per inference
  bytes: number; // moved at least: inputs, weights and outputs once
  flops_per_s: number; // achieved
  intensity: number; // flops per byte
  fraction: number; // of what the machine can do: the least time that flops and bytes take, per time taken
  bound: "compute" | "memory"; // which of the two limits it
}

export interface ProfiledOperator {
  op: number; // its place in the order of execution, from 0
  name: string; // the runtime's; as are all texts
  kind: string;
  kernel: string; // "": not reported; also below
  precision: string; // as executed
  layout: string;
  shapes: string;
  provider: string;
  nodes: string[]; // of the model, that it executes
  rule: "exact" | "tensor" | "suffix" | "inferred" | "none"; // how its nodes were found: their names, a tensor that it makes, a name with an addition of the runtime's, what lies around it; none: it executes no node
  flops: number | null; // of its nodes
  moved_bytes: number | null; // inputs, weights and outputs, each once, in the executed precision
  activation_bytes: number | null; // that the runtime reports; also below
  parameter_bytes: number | null;
  output_bytes: number | null;
  arena_peak_bytes: number | null; // most that the runtime's arena had in use up to the operator's end, from the session's start on
  arena_in_use_bytes: number | null; // what the runtime's arena had in use at the operator's end, the highest of all inferences
  mean_s: number; // mean over processes of the mean over the faster half of a process's iterations; operators and rest add up to wall_s. Below 0: the rest of operators that overlap
  low_s: number | null; // 95 % t interval over processes; null: fewer than 2
  high_s: number | null;
  calls: number; // per inference
  helper_s: number; // mean time on all other threads, in no sum
  share: number; // of wall_s
  roofline: OperatorRoofline | null; // null: no floating-point operations, or no peaks
}

export interface OperatorTimeline {
  process: number;
  iteration: number; // from 0: the one whose time is nearest to its process's median
  wall_s: number;
  op: number[]; // of operators[].op; this and the next three are of equal length, one entry per event
  thread: number[]; // 0: the thread that asked
  begin_s: number[]; // since the iteration began
  duration_s: number[];
}

export interface OperatorTime {
  mean_s: number; // mean over processes of the mean over the faster half of a process's iterations; operators and rest add up to wall_s. Below 0: the rest of operators that overlap
  low_s: number | null; // 95 % t interval over processes; null: fewer than 2
  high_s: number | null;
  calls: number; // per inference
  helper_s: number; // mean time on all other threads, in no sum
  share: number; // of wall_s
}

export interface OperatorGraph {
  from: number[]; // operators[].op; of the same length as `to`, at most 100,000
  to: number[];
  left_out: number; // edges beyond these
  reason: string; // why there is no edge; "": there are some
}

export interface OperatorTable {
  wall_s: number; // mean of a profiled inference: operators and rest add up to it
  clean_p50_s: number | null; // of the timed trials
  profiled_p50_s: number | null; // of the profile trials
  distorted: boolean; // profiled_p50_s is more than 5 % above clean_p50_s: shares can be read, times cannot
  sources: {
    name: string;
    available: boolean;
    detail: string; // what it is, or why it is not there
  }[]; // what the profile is made from
  operators: ProfiledOperator[]; // slowest first
  rest: OperatorTime; // what no operator explains
  roofline: {
    whole_fraction: number | null; // of the model: sum of its operators' least times per wall_s
    whole_flops: number; // per inference
    notes: string[]; // what was assumed, what is left out, what is above its roof
    reason: string; // why there is none; "": there is one
  };
  graph: OperatorGraph; // which operator reads what another one makes, as far as the runtime reports it; each pair once
  timeline: OperatorTimeline | null; // null: the source has no single events
}

export interface StackFunction {
  symbol: string; // "": not known
  module: string; // the file that holds it, without folders; "": not known
  offset: string; // into the module, where there is no symbol: "0x12ab"; "": not reported, or all addresses of the module that are below 0.5 %
  self_s: number; // own time per inference on the main thread: mean over processes
  low_s: number | null; // 95 % t interval over processes, or pairs of them; null: fewer than 2
  high_s: number | null;
  share: number; // self_s of wall_s
  total_s: number; // with what it calls; of recursion once
  helper_s: number; // own time on other threads
  places: {
    kind: string; // of operators; "": outside of them
    op: number | null; // where it is one operator alone: of operators[].op
    operators: number; // how many
    self_s: number;
  }[]; // where its own time is spent, largest first, three at most
}

export interface StackNode {
  parent: number | null; // index of a node before it; null: the whole, or other threads
  level: "whole" | "other_threads" | "kind" | "operator" | "frame" | "rest" | "merged"; // whole: an inference, of the thread that asked for it; other_threads: all others, in no sum; kind, operator: where the samples show it; rest: of the whole, what was not sampled (waiting, or where the method does not see); merged: frames that are too small or too deep to stand alone
  kind?: string; // of a kind; "": outside of operators
  merged?: number; // how many frames it stands for
  function?: number; // of a frame: index into functions
  op?: number; // of an operator: of operators[].op
  mean_s: number; // per inference, with all beneath it: mean over processes
  self_s: number; // what nothing beneath it explains
  low_s: number | null; // 95 % t interval over processes, or pairs of them; null: fewer than 2
  high_s: number | null;
}

// call stacks that one method sampled in the profile trials of a subject
export interface StackProfile {
  method: string; // perf_event, perf_event_dwarf, sigprof, py_spy, cprofile, …
  detail: string; // how, how often, and what could not be had
  is_python: boolean; // frames are Python's
  is_time: boolean; // samples weigh seconds; else the main thread's samples together stand for its wall time
  samples: number;
  left_out: number; // trials that could not be used
  tagged_share: number; // of the main thread's time: within an operator
  unnamed_share: number; // in code without a symbol
  processes: number;
  wall_s: number; // mean of an inference while it is looked at
  clean_p50_s: number | null; // of the timed trials
  profiled_p50_s: number | null; // of these trials
  distorted: boolean; // profiled_p50_s is more than 5 % above clean_p50_s: shares can be read, times cannot
  functions: StackFunction[]; // most own time first: those of the tree, and the hottest 50
  tree: StackNode[]; // parents before children, siblings by size; at most 2,000
}

export interface StackFunctionName {
  symbol: StackProfile["functions"][number]["symbol"];
  module: StackProfile["functions"][number]["module"];
  offset: StackProfile["functions"][number]["offset"];
}

export interface StackDifferenceNode {
  parent: StackProfile["tree"][number]["parent"];
  level: StackProfile["tree"][number]["level"];
  kind?: StackProfile["tree"][number]["kind"];
  merged?: StackProfile["tree"][number]["merged"];
  function?: StackProfile["tree"][number]["function"];
  group?: number; // of an operator: index into the explanation's groups
  baseline_s: number;
  subject_s: number;
  mean_s: number; // subject less baseline, over pairs of processes
  low_s: StackProfile["tree"][number]["low_s"];
  high_s: StackProfile["tree"][number]["high_s"];
  separable: boolean; // beyond 0 after Holm's correction over all nodes
}

// the same of two subjects, subject less baseline
export interface StackDifference {
  method: StackProfile["method"];
  detail: StackProfile["detail"];
  is_python: StackProfile["is_python"];
  is_time: StackProfile["is_time"];
  samples: StackProfile["samples"];
  left_out: StackProfile["left_out"];
  tagged_share: StackProfile["tagged_share"];
  unnamed_share: StackProfile["unnamed_share"];
  pairs: number; // of processes of the same number
  difference_s: number;
  functions: StackFunctionName[];
  tree: StackDifferenceNode[];
}

export interface ProfileClause {
  sentence: string; // without figures
  cause: "other_precision" | "extra_conversions" | "lost_fusion" | "other_kernel" | "other_layout" | "less_parallel" | "between_operators" | "unknown";
  groups: number[]; // indices into groups
  mean_s: number;
  low_s: number;
  high_s: number;
  share: number; // of difference_s
}

export interface ProfileExplanation {
  baseline: number; // index into subjects
  subject: number; // compared with the baseline
  reason: string; // why there is no explanation; "": there is one
  pairs: number; // of processes
  left_out: number; // profile trials without times, of other operators, or without a partner
  baseline_s: number; // mean profiled inference
  subject_s: number;
  difference_s: number; // of the mean profiled inference, subject less baseline; positive: the subject is slower. groups[].mean_s add up to it
  low_s: number; // 95 % t interval over pairs; also below
  high_s: number;
  clean_difference_s: number | null; // of the timed trials' p50
  clean_low_s: number | null;
  clean_high_s: number | null;
  consistent: boolean; // the profiles explain the difference that was measured without them
  not_separable_s: number; // of all groups together that are in no clause
  not_separable_half_width_s: number;
  clauses: ProfileClause[]; // the fewest that cover four fifths of what is separable, largest first
  groups: OperatorGroupDifference[]; // common to both, largest |mean_s| first
  stacks: StackDifference[]; // by each method that saw both
}

export interface OperatorGroupDifference {
  kind: string; // "(rest)": what no operator explains
  nodes: string[]; // of the model
  in_baseline: number[]; // operators[].op of the baseline; empty: only the subject has it
  in_subject: number[];
  is_helper: boolean; // executes no node of the model: conversions of layout or precision
  baseline_s: number; // mean per inference
  subject_s: number;
  mean_s: number; // of the difference over pairs of processes
  low_s: number; // 95 % t interval
  high_s: number;
  p: number; // two-sided, of no difference
  separable: boolean; // p is below the bound that allows for the number of groups
}

export interface MachinePeaks {
  threads: number;
  seconds: number; // that measuring took
  missing: string[]; // why a peak is not there
  compute: {
    dtype: string;
    ops_per_s: number; // a multiplication and an addition are two
    low: number; // of the repeats
    high: number;
    instructions: string;
  }[];
  bandwidth: {
    level: string;
    holds_bytes: number; // all caches of this level that the threads reach; of DRAM 0
    bytes_per_s: number;
    low: number; // of the repeats
    high: number;
  }[];
}

export interface SubjectProfile {
  subject: number; // index into the run's subjects
  asked: number; // profile trials that were made
  processes: number; // of which the table is
  left_out: number; // processes whose operators are others
  table: OperatorTable | null; // null: no profile trial reported its operators
  stacks: StackProfile[]; // one per method that saw anything, native ones first
}

export interface Profile {
  subjects: SubjectProfile[];
  explanations: ProfileExplanation[]; // of each subject against the first of its group
  peaks: MachinePeaks | null; // what this machine can do, as measured in this run; null: it was not measured
}

// What `infermeter gate --format json` writes. Values and thresholds are in base units: seconds, bytes, items per second, shares (0.1 is 10 %), factors. What is not known is null.
export interface Gate {
  schema: "infermeter.gate/1";
  gate: string; // the file of the expectations
  run: string; // the id of the run that is judged
  created_at: string; // when that run began
  finished: boolean;
  machine: string; // digest of what makes two machines comparable
  baseline: {
    name: string;
    run: string;
  } | null; // the run that regressions are against; null: none was named
  passed: number;
  failed: number;
  inconclusive: number;
  exit_code: number;
  answers: Answer[]; // what is said first: what went wrong, then what was asked
  checks: Check[]; // the checklist
  verdicts: Verdict[]; // by expectation, then by subject
}

export interface Verdict {
  expectation: string; // as written
  subject: string; // its label
  outcome: "pass" | "fail" | "inconclusive";
  relation: "<" | "<=" | ">" | ">=" | "==" | null; // null: the expectation is no bound
  threshold: number | null; // the bound, or the margin
  unit: "" | "s" | "bytes" | "items/s" | "x" | "share" | "dB"; // of value, interval and threshold
  value: number | null;
  interval: Bounds | null;
  exact: boolean; // the value is a fact and has no interval that it is judged on
  n: number; // of what the value is made
  n_of: "" | "iterations" | "processes" | "pairs" | "items" | "rows" | "pixels" | "runs";
  processes: number;
  reason: string;
  notes: string[]; // what a reader must know beside it
}

export interface Bounds {
  low: number;
  high: number;
  confidence: number;
}

// What `infermeter validate A B --format json` writes. Shares are in [0, 1], times in seconds. What is not known, or is no finite number, is null.
export interface Validation {
  schema: "infermeter.validation/1";
  created_at: string; // when the two ran
  hostname: string;
  outcome: "pass" | "fail" | "inconclusive"; // exit code 0, 1, and 0 or (--fail-inconclusive) 5
  agree: boolean; // every output is comparable and within its tolerance, and that says something
  undecided: boolean; // nothing differs, but the outputs prove nothing
  answers: Answer[]; // what is said first: what went wrong, then what was asked
  checks: Check[]; // the checklist
  baseline: ValidationSide;
  candidate: ValidationSide;
  data: {
    source: string;
    labels: string; // the file; empty: the data's own, if any
    items: number;
    perturb: number; // the first item and that with noise, so many in all; 0: the data as they are
    noise: number;
    seed: number;
  };
  sandbox: string; // the level in force: auto, strict or off, and what the kernel did not do
  drop: {
    allowed: number;
    outcome: "pass" | "fail" | "inconclusive";
  } | null; // of the share of right answers, judged by its whole interval; null: none was allowed
  perplexity: {
    baseline: number; // e to the mean over texts of the mean -ln(share of the next token)
    candidate: number;
    increase: number; // candidate / baseline - 1
    interval: AnswerInterval | null; // of it, over texts; null: fewer than two
    allowed: number | null; // how much it may increase; null: not judged
  } | null; // how well both predict texts (labels: next); null: there are no texts
  outputs: {
    allowed: number | null; // the largest difference that is within the tolerance
    floor: number | null; // what the baseline differs from itself by
    difference: OutputDifference;
  }[];
  again: {
    items: number;
    outputs: OutputDifference[];
  }; // the baseline against itself, run twice
  samples: ValidationSample[]; // by item, then by output; empty with --no-samples
  diagnostics: Diagnostic[];
  times: {
    models_s: number; // both subjects' processes, from start to end, less making inputs
    again_s: number; // the baseline's second run
    data_s: number; // making inputs
    whole_s: number;
  };
}

export interface ValidationSide {
  label: string;
  model: string;
  backend: string;
  batch_size: number;
  sha256: string; // of the model's file; empty where there is none
  executed: Record<string, string>; // as its back end reports it
  accuracy: Accuracy | null;
}

export interface ValidationSample {
  item: number;
  name: string;
  output: string;
  within_tolerance: boolean; // by the tolerance over all items: if all samples are, the whole is
  element_count: number;
  mismatched: number;
  non_finite_apart: number;
  max_absolute: number | null;
  max_absolute_index: number;
  max_absolute_place: string; // where that is, as sentences say it; empty: nothing differs
  reference_at_max: number | null;
  candidate_at_max: number | null;
  mae: number | null;
  mse: number | null;
  rmse: number | null;
  relative_l2: number | null;
  relative_max: number | null;
  cosine: number | null;
  pearson: number | null;
  psnr_db: number | null; // decibels; null: infinite (both are equal), or there is no range
  ssim: number | null; // of images only
  agreed_prefix: number | null; // share of values before the first that differs; null: no integers in one dimension
}

// What `infermeter variants --format json` writes. Values are in base units: seconds, bytes, items per second, shares (0.1 is 10 %), factors. What is not known is null. The run itself, with its samples, is `infermeter report RUN --format json`.
export interface Variants {
  schema: "infermeter.variants/1";
  run: string; // the id of the run
  created_at: string;
  finished: boolean;
  model: string; // as it was asked for
  machine: string; // digest of what makes two machines comparable
  batch_sizes: number[];
  answers: Answer[]; // what is said first: what went wrong, then what was asked
  checks: Check[]; // the checklist
  pareto_figures: ("accuracy" | "output error" | "latency" | "memory" | "size")[]; // what the front is of; at the first batch size
  variants: Variant[]; // the first one is the baseline
  notes: string[]; // what was left out, and why
}

export interface PlainEstimate {
  value: number | null;
  interval: Interval | null;
}

export interface Measurement {
  subject: number; // in the run
  label: string;
  batch_size: number;
  latency_p50_s: PlainEstimate | null; // median latency
  throughput_ips: PlainEstimate | null; // items per second
  speed_up: PlainEstimate | null; // the baseline's median latency divided by this one's; null: it is the baseline
  memory_peak_bytes: PlainEstimate | null; // resident memory of the worker
  device_memory_peak_bytes: PlainEstimate | null; // of the device, where its framework accounts for it
  ttft_p50_s?: PlainEstimate | null; // time to the first token, of a language model; absent of others
  tpot_p50_s?: PlainEstimate | null; // time per output token, likewise
}

export interface Recommendation {
  kind: "faster" | "slower" | "not_faster" | "less_memory" | "more_memory" | "smaller_model" | "larger_model" | "accuracy_maintained" | "accuracy_lost" | "accuracy_unclear" | "outputs_agree" | "outputs_differ" | "outputs_undecided";
  batch_size: number;
  value: number | null;
  interval: Interval | null;
  text: string;
}

export interface Variant {
  label: string;
  kind: string; // float32, float16, int8-static, pruned-50%, compile, …; of --models the name
  failure: string | null; // why it was not made or measured, or not all of it
  model: Model | null;
  size_bytes: number | null; // of its files; of a model that a framework holds in memory, of its weights there
  measurements: Measurement[]; // by batch size
  output_error: number | null; // relative L2 distance to the baseline's outputs, of the output in which it is largest; null: of the baseline, or not comparable
  accuracy: number | null; // share of rows, or of pixels, that are right
  texts?: {
    perplexity: number | null; // null: a token of the texts has probability 0
    increase: number | null; // against the baseline's; null: it is the baseline
    interval: Interval | null;
    kl_divergence: number | null; // of the scores of the next token from the baseline's
    top1_agreement: number | null;
  }; // how well a language model predicts texts (labels: next); absent of other data
  pareto: {
    place: "front" | "dominated" | "not_placed";
    dominated_by: string[];
  };
  recommendations: Recommendation[];
  remarks: string[];
}

export interface LayersGraph {
  nodes: {
    name: string; // a node without a name of its own is called by its operator and its number in the file
    operator: string;
    tensors: number[]; // what it makes: into tensors; what has no partner is not among them
  }[];
  from: number[]; // into nodes; of the same length as `to`, at most 100,000. What a node's subgraphs read is not among them
  to: number[];
  left_out: number; // edges beyond these
}

// What `infermeter validate A B --layers --format json` writes. What is not known, or is no finite number, is null.
export interface Layers {
  schema: "infermeter.layers/1";
  created_at: string; // when the two ran
  hostname: string;
  reference: LayersSide;
  candidate: LayersSide;
  item: string; // the data item that both ran on
  sandbox: string; // the level in force: auto, strict or off, and what the kernel did not do
  note: string;
  least_jump: number; // times the largest error before it, from which on an error is a jump
  first_difference: number | null; // into tensors
  jump: number | null; // into tensors: where the two diverge; null: nowhere, exit code 0
  worst: number | null; // into tensors
  before_jump: number | null; // the largest error before the jump
  answers: Answer[]; // what is said first: what went wrong, then what was asked
  checks: Check[]; // the checklist
  tensors: Tensor[]; // those that were matched, in the order of the reference's graph
  graph: LayersGraph; // the reference's main graph, without nodes that make constants
  reference_only: string[];
  candidate_only: string[];
}

export interface LayersSide {
  label: string;
  model: string;
  backend: string;
  executed: Record<string, string>; // as the back end reports it
}

export interface Tensor {
  name: string; // in the reference's file
  candidate_name: string;
  matched_by: "name" | "order";
  node: string; // of the reference, that makes it
  operator: string;
  position: number; // of that node in its graph
  dtype: string;
  candidate_dtype: string;
  shape: number[];
  reason: string; // why the two cannot be compared; empty: they can. Another type or shape is a divergence
  elements: number;
  error: number | null; // relative L2 error, as the growth is judged by; null: the two cannot be compared, or it is no finite number
  rounding_floor: number; // what rounding alone explains, by the coarser executed precision
  relative_l2: number | null;
  relative_l1: number | null;
  relative_max: number | null;
  max_absolute: number | null;
  max_absolute_index: number; // flat, row-major
  mae: number | null;
  rmse: number | null;
  cosine: number | null;
  non_finite_apart: number; // NaN or infinite in one and not the same in the other
}

// What `infermeter history --format json` prints: the series of a store, their levels and changes. Base units; what is not known is null.
export interface History {
  schema: "infermeter.history/1";
  metric: string;
  unit: "s" | "items/s" | "1/s" | "bytes" | "";
  lower_is_better: boolean;
  this_machine: string; // fingerprint of the machine that printed this
  machines: HistoryMachine[];
  hidden_runs: number; // of the same series, on machines that were not asked for
  answers: Answer[]; // what is said first: what went wrong, then what was asked
  checks: Check[]; // the checklist
  series: HistorySeries[];
}

export interface HistoryMachine {
  machine: string; // fingerprint
  hostname: string | null;
  processor: string | null;
}

export interface HistorySeries {
  series: string;
  machine: string; // fingerprint
  runs: number;
  first_at: TimeOrNull | null;
  last_at: TimeOrNull | null;
  last_value: number | null;
  left_out: number; // runs whose value is 0, which has no logarithm
  disturbed: number; // runs left out because other work disturbed at least half of their processes
  too_few: boolean; // too few runs to look for changes: no levels, no changes
  levels: HistoryLevel[];
  changes: HistoryChange[];
  alarm: HistoryAlarm | null;
  values: HistoryRun[] | null; // null where all series are listed
}

export interface HistoryLevel {
  first_run: string;
  last_run: string;
  runs: number;
  value: number; // geometric mean
  sd_log: number; // standard deviation of the logarithms
}

export interface HistoryChange {
  run: string; // the first one of the new level
  at: Time;
  index: number; // of that run in the series, from 0
  change: number; // relative: 0.1 is 10 % more
  worse: boolean;
  by_scan: boolean;
  by_e_divisive: boolean;
  statistic: number; // |t| of the scan, corrected for autocorrelation
  p: number; // of E-divisive's permutation test; 1 if above 0.01, so that it does not see the change
  context: HistoryContext[];
}

export interface HistoryContext {
  what: "runtime_version" | "model" | "infermeter_version" | "git_commit";
  before: string;
  after: string;
  runs_off: -1 | 0 | 1; // runs between the change of the value and this one
}

export interface HistoryAlarm {
  run: string; // the first one of the level that is worse than the one before it
  confirm: string | null; // the command that compares the two builds side by side
  why_not: string | null; // why there is no such command
}

export interface HistoryRun {
  run: string;
  at: Time;
  label: string;
  value: number;
  low: number | null; // 95 % interval across worker processes
  high: number | null;
  processes: number;
  runtime_version: string | null;
  model_sha256: string | null;
  git_commit: string | null;
  infermeter_version: string | null;
}

export type Time = string;

export type TimeOrNull = Time;
