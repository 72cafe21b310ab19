// What pictures decide before anything is drawn.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { PrimaryComparison, Part, ProfiledOperator, Run, Trial } from "../src/document.ts";
import { shortened, visible } from "../src/dom.ts";
import { sortedBars } from "../src/pictures/bars.ts";
import { families } from "../src/pictures/batch.ts";
import { changeShort, changeText, effectAxis, worseBy } from "../src/pictures/effects.ts";
import { middleProcess } from "../src/pictures/memory.ts";
import { bandsOf, memoryOverTime, pointsOf } from "../src/pictures/memory_timeline.ts";
import { arenaInOrder, byMemory, largestFirst } from "../src/pictures/operator_memory.ts";
import { isStaircase } from "../src/pictures/pareto.ts";
import { iterationsOf, kindOf } from "../src/pictures/timeline.ts";
import { disturbances, measured, quantile, uniqueNames } from "../src/pictures/trials.ts";
import type { Measured } from "../src/pictures/trials.ts";

const latency = { metric: "latency_p50", lower_is_better: true } as PrimaryComparison;
const throughput = { metric: "throughput", lower_is_better: false } as PrimaryComparison;

test("effects are shares of the baseline's value, positive being worse", () => {
  assert.ok(Math.abs(worseBy(latency, Math.log(1.1)) - 10) < 1e-9);
  // Half the items per second: 50 % less, though the logarithm is that of a doubled time.
  assert.ok(Math.abs(worseBy(throughput, Math.log(2)) - 50) < 1e-9);
  assert.equal(changeText(latency, Math.log(0.9)), "10.0 % faster");
  assert.equal(changeText(throughput, Math.log(2)), "50.0 % less");
  assert.equal(changeText(throughput, Math.log(0.5)), "100 % more");
  assert.equal(changeText({ ...latency, metric: "memory_peak" }, Math.log(1.1)), "10.0 % more");
  assert.equal(changeText(latency, null), "–");
});

test("more throughput is read without a minus where better stands, more latency with its sign", () => {
  const label = (compared: Parameters<typeof effectAxis>[0], tick: number): string => {
    const { axisLabel } = effectAxis(compared, { axisLabel: { formatter: String } }) as { axisLabel: { formatter: (tick: number) => string } };
    return axisLabel.formatter(tick);
  };
  const doubled = worseBy(throughput, -Math.log(2.05));
  assert.ok(Math.abs(doubled + 105) < 1e-9);
  assert.equal(label([throughput], -105), "105");
  assert.equal(label([latency, throughput], -50), "50");
  assert.equal(label([latency], -50), "-50");
});

test("a change's interval begins with its lower end, also where more is better", () => {
  assert.equal(changeShort(throughput, Math.log(2), { low: Math.log(1.6), high: Math.log(2.5), confidence: 0.95 }), "−50.0 % [−60.0, −37.5]");
  assert.equal(changeShort(latency, Math.log(1.1), null), "+10.0 % (no interval)");
});

test("only a front of two figures is drawn as a staircase", () => {
  assert.ok(isStaircase([{ x: 2, y: 3 }, { x: 1, y: 5 }]));
  assert.ok(!isStaircase([{ x: 1, y: 3 }, { x: 2, y: 5 }]));
  assert.ok(!isStaircase([{ x: 1, y: 3 }]));
});

function runOf(subjects: { model: string; backend: string; batch: number; threads?: number }[]): Run {
  return {
    subjects: subjects.map((each, index) => ({ index, model: each.model, backend: each.backend, batch_size: each.batch })),
    plan: { subjects: subjects.map((each) => ({ dtype: "float32", device: "cpu", threads: each.threads ?? 0, options: {}, dimensions: {}, batch_axes: {}, backend_library: "" })) },
  } as unknown as Run;
}

test("subjects that differ in the batch size alone are a family", () => {
  const found = families(runOf([
    { model: "a", backend: "x", batch: 8 }, { model: "a", backend: "x", batch: 1 }, { model: "a", backend: "y", batch: 1 }, { model: "a", backend: "x", batch: 1 },
  ]));
  assert.deepEqual(found, [{ name: "a · x", sizes: [{ batch: 1, subject: 1 }, { batch: 8, subject: 0 }] }]);
});

test("families' names say what tells them apart", () => {
  const found = families(runOf([1, 2].flatMap((threads) => [1, 8].map((batch) => ({ model: "a", backend: "x", batch, threads })))));
  assert.deepEqual(found.map((family) => family.name), ["a · x · 1 threads", "a · x · 2 threads"]);
});

test("bars without a value are last in any order by value", () => {
  const bars = [3, null, 1, 2].map((value, subject) => ({ subject, value: { value, interval: null } }));
  const order = (by: "plan" | "smallest" | "largest"): number[] => sortedBars(bars, by).map((bar) => bar.subject);
  assert.deepEqual(order("plan"), [0, 1, 2, 3]);
  assert.deepEqual(order("smallest"), [2, 3, 0, 1]);
  assert.deepEqual(order("largest"), [0, 3, 2, 1]);
});

const quiet: Trial["noise"] = {
  foreign_cpu: null, steal: null, own_cpu: null, involuntary_switches: null, voluntary_switches: null, major_faults: null, minor_faults: null, pressure_cpu: null,
  throttled_s: null, frequency_before_hz: null, frequency_after_hz: null, temperature_before_c: null, temperature_after_c: null, threads: null, processors: null,
};

function trial(more: Partial<Trial>): Trial {
  return { noise: {}, diagnostics: [], memory: { rss_peak_inference_bytes: null, rss_after_load_bytes: null, device_peak_bytes: null }, ...more } as Trial;
}

test("the process in the middle is one that ran", () => {
  const of = (bytes: number | null): Trial => trial({ memory: { rss_peak_inference_bytes: bytes, rss_after_load_bytes: null, device_peak_bytes: null } as Trial["memory"] });
  const trials = [40, 10, null, 30, 20].map(of);
  assert.equal(middleProcess(trials)?.memory.rss_peak_inference_bytes, 20);
  assert.equal(middleProcess([of(null)]), null);
});

const timeline = (subject: number, process: number, end: Trial["end"] = "ok"): Trial =>
  trial({
    subject, process, end, memory_timeline: { recorded: 90, at_s: [0.02, 0.1, 0.3, 0.5, 0.9], phase: ["start", "load", "load", "timed", "timed"], rss_bytes: [10, 50, 40, 80, 70 + process] },
  });

function partOf(trials: Trial[], more: object = {}): Part {
  const subjects = [...new Set(trials.map((each) => each.subject))].map((index) => ({ index, label: `s${index}` }));
  return { run: { subjects, trials, side_trials: [], ...more }, figures: null } as unknown as Part;
}

test("phases are shaded from their first reading to that of the next", () => {
  const points = pointsOf(timeline(0, 0));
  assert.deepEqual(points[1], { at: 0.1, phase: "load", bytes: 50 });
  assert.deepEqual(bandsOf(points), [{ phase: "start", begin: 0, end: 0.1 }, { phase: "load", begin: 0.1, end: 0.5 }, { phase: "timed", begin: 0.5, end: 0.9 }]);
  assert.deepEqual(bandsOf([]), []);
});

const measuredOf = (trials: Trial[]): Measured => measured(partOf(trials)) as Measured;

test("memory over time shows failed processes too, and says what was thinned", () => {
  const [picture] = memoryOverTime(measuredOf([timeline(0, 0), timeline(0, 1, "out_of_memory")]));
  assert.ok(picture !== undefined && picture.kind === "chart");
  const look = { series: () => ({}) } as never;
  assert.deepEqual(picture.legend?.(look).map((item) => item.name), ["process 1", "process 2 (out of memory)"]);
  assert.match(picture.note?.() ?? "", /some 60 points of up to 90/);
  const data = picture.data();
  assert.equal(data.rows.length, 10);
  assert.deepEqual(data.rows[9], ["s0", 2, "out of memory", 0.9, "timed", 71]);
});

test("of several subjects one process each is shown, the one in the middle", () => {
  const peak = (bytes: number, each: Trial): Trial => ({ ...each, memory: { ...each.memory, rss_peak_inference_bytes: bytes } });
  const [picture] = memoryOverTime(measuredOf([peak(3, timeline(0, 0)), peak(1, timeline(0, 1)), peak(2, timeline(0, 2)), peak(5, timeline(1, 0))]));
  assert.deepEqual(picture?.kind === "chart" ? picture.legend?.({ series: () => ({}) } as never).map((item) => item.name) : [], ["s0", "s1"]);
  assert.match(picture?.note?.() ?? "", /median peak/);
  assert.deepEqual(memoryOverTime(measuredOf([trial({ subject: 0, process: 0 })])), [], "nobody saw it");
});

const operator = (op: number, bytes: Partial<ProfiledOperator>): ProfiledOperator =>
  ({ op, name: `op ${op}`, kind: "Conv", activation_bytes: null, parameter_bytes: null, output_bytes: null, arena_peak_bytes: null, arena_in_use_bytes: null, ...bytes }) as ProfiledOperator;

test("operators are by memory where the runtime reports, largest first, and by their order beside the arena", () => {
  const operators = [operator(1, { output_bytes: 9, activation_bytes: 1, arena_in_use_bytes: 30 }), operator(0, { output_bytes: 5 }), operator(2, {})];
  assert.deepEqual(largestFirst(operators, (each) => each.output_bytes).map((each) => each.operator.op), [1, 0]);
  const part = partOf([trial({ subject: 0, process: 0 })], { profile: { subjects: [{ subject: 0, asked: 1, table: { operators } }] } });
  assert.equal(byMemory(part).length, 1);
  const [arena] = arenaInOrder(part);
  assert.deepEqual(arena?.data().rows.map((row) => row[1]), [1, 2, 3]);
  assert.deepEqual(arena?.data().rows[1], ["s0", 2, "op 1", "Conv", 1, null, 9, 30, null]);
  const silent = partOf([trial({ subject: 0, process: 0 })], { profile: { subjects: [{ subject: 0, asked: 1, table: { operators: [operator(0, { output_bytes: 1 })] } }] } });
  assert.deepEqual(arenaInOrder(silent), [], "no arena is reported");
});

test("outliers lie beyond their process' fences, and warm-up counts down to 0", () => {
  const fences = { severe_low: 1, mild_low: 2, mild_high: 8, severe_high: 9 };
  assert.deepEqual([5, 8.5, 9.5, 1.5, 0.5].map((value) => kindOf(value, fences)), ["timed", "mild outlier", "severe outlier", "mild outlier", "severe outlier"]);
  assert.equal(kindOf(100, null), "timed");
  const times = { begin_s: [0, 1], latency_s: [20, 5] };
  const iterations = iterationsOf(trial({ warmup_samples: times, samples: { begin_s: [2, 3], latency_s: [5, 9.5] } }), fences, false);
  assert.deepEqual(iterations.map((each) => each.at), [-1, 0, 1, 2]);
  assert.deepEqual(iterations.map((each) => each.kind), ["warm-up", "warm-up", "timed", "severe outlier"]);
  assert.deepEqual(iterationsOf(trial({}), fences, true), [], "a report without samples");
});

test("disturbances are in words, once each", () => {
  const foreign = { id: "foreign_load", severity: "warning" as const, message: "other programs used 41 % of a processor", remedy: "", about: "" };
  assert.deepEqual(disturbances(trial({ noise: { ...quiet, foreign_cpu: 0.41, major_faults: 2 }, diagnostics: [foreign] })), ["other programs used 41.0 % of a processor", "2 major page faults"]);
  assert.deepEqual(disturbances(trial({ noise: { ...quiet, foreign_cpu: 0.01 } })), [], "what no diagnostic speaks of is not a disturbance");
  assert.deepEqual(disturbances(trial({ diagnostics: [{ ...foreign, id: "note", severity: "info" }] })), []);
});

test("equal labels get numbers, and steering characters are shown", () => {
  assert.deepEqual(uniqueNames(["a", "b", "a", ""]), ["a (subject 1)", "b", "a (subject 3)", " (subject 4)"]);
  assert.deepEqual(uniqueNames(["\u202eevil"]), [visible("\u202eevil")]);
});

test("quantiles are the document's own or none", () => {
  assert.equal(quantile([0, 0.5, 1], [1, 2, 3], 0.5), 2);
  assert.equal(quantile([0, 0.5, 1], [1, 2, 3], 0.95), null);
});

test("long names are cut in the middle, whole characters at a time", () => {
  assert.equal(shortened("abcdefghij", 20), "abcdefghij");
  assert.equal(shortened("resnet50@onnxruntime,batch=64", 15), "resnet5…atch=64");
  assert.equal(Array.from(shortened("😀".repeat(300), 11)).length, 11);
});
