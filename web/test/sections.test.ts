// What sections decide before anything is shown.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Direction, Environment, Estimate, Gate, Metric, PrimaryComparison, Part, Run, RunSubject, Trial } from "../src/document.ts";
import { changeOf, verdictOf } from "../src/sections/comparison_table.ts";
import { figureText } from "../src/sections/gate_table.ts";
import { machineFacts } from "../src/sections/machine.ts";
import { ratiosOf, runColumns, shownAtFirst, speedUp } from "../src/sections/run_columns.ts";
import { settingsOf } from "../src/sections/settings.ts";
import { subjectLabels, subjectRows } from "../src/sections/subjects.ts";
import { tally } from "../src/sections/summary.ts";
import { failureGroups, trialRows } from "../src/sections/trials.ts";
import { behind, tuningColumns, type TuningRow } from "../src/sections/tuning_table.ts";

const estimate = (value: number | null, note = ""): Estimate => ({ value, interval: null, n: 10, processes: 2, method: "", note });
const metric = (value: number | null, note = ""): Metric => ({ ...estimate(value, note), unit: "s", lower_is_better: true, within: null });

function subject(index: number, label: string, more: Partial<RunSubject> = {}): RunSubject {
  return {
    index, label, model: "m", backend: "b", batch_size: 1, group: 0, baseline: index === 0 ? null : 0, trials_ok: 1, trials_partial: 0, trials_failed: 0,
    metrics: {}, counters: [], ratios: {}, direction: null, leak: null, outputs: null, accuracy: null, outliers: { mild: 0, severe: 0, removed: 0, total: 0 }, diagnostics: [], ...more,
  };
}

const trial = (subjectIndex: number, more: Partial<Trial> = {}): Trial =>
  ({ subject: subjectIndex, process: 0, position: 0, purpose: "timed", end: "ok", phase: "done", signal: null, message: "", stderr_tail: "", iterations: 1, executed: {}, diagnostics: [], ...more }) as Trial;

const planned = (dtype: string, more: object = {}): object => ({ label: "", model: "m", backend: "b", device: "auto", dtype, batch_size: 1, threads: 0, dimensions: {}, batch_axes: {}, options: {}, backend_library: "", group: 0, ...more });

function runOf(subjects: RunSubject[], trials: Trial[], plans: object[] = subjects.map(() => planned("float32"))): Run {
  return { subjects, trials, side_trials: [], models: [], plan: { subjects: plans, order: [] }, comparison: null, tuning: null } as unknown as Run;
}

test("subjects of one label get a number each", () => {
  assert.deepEqual(subjectLabels(runOf([subject(0, "a"), subject(1, "b"), subject(2, "a")], [])), ["a (no. 1)", "b", "a (no. 3)"]);
});

test("a baseline that is chosen counts in its group, and others keep their own", () => {
  const run = runOf([subject(0, "a"), subject(1, "b", { ratios: { latency_p50: estimate(2) } }), subject(2, "c", { group: 1, baseline: null }), subject(3, "d", { group: 1, baseline: 2 })], []);
  const rows = subjectRows(run);
  const ratios = ratiosOf({ quantile_levels: [], process_levels: [], quantile_needs: [], process_needs: [], fronts: [], generation: [], courses: [], distributions: [], ratios: [{ baseline: 1, subject: 0, value: 0.5, interval: null }, { baseline: 2, subject: 3, value: 3, interval: null }] });
  const of = (chosen: number | null): (number | string | null)[] => rows.map((row) => { const measure = speedUp(row, rows, ratios, { chosen }); return measure.instead ?? measure.value; });
  assert.deepEqual(of(null), ["baseline", 2, "baseline", 3]);
  assert.deepEqual(of(1), [0.5, "baseline", "baseline", 3]);
});

test("a ratio that is not there says why", () => {
  const run = runOf([subject(0, "a", { metrics: { latency_p50: metric(null, "needs 6 iterations") } }), subject(1, "b", { metrics: { latency_p50: metric(1) } })], []);
  const rows = subjectRows(run);
  assert.equal(speedUp(rows[1]!, rows, ratiosOf(null), { chosen: null }).note, "the baseline has no latency p50: needs 6 iterations");
});

test("the furthest percentile that has values is shown, and failures are", () => {
  const run = runOf([subject(0, "a", { metrics: { latency_p50: metric(1), latency_p95: metric(2), latency_p99: metric(null, "needs 299 iterations") } }), subject(1, "b", { trials_ok: 0, trials_failed: 2 })], [trial(1, { end: "crashed", phase: "load" })]);
  const rows = subjectRows(run);
  const columns = runColumns(rows, null, { chosen: null });
  const shown = shownAtFirst(columns, rows);
  assert.ok(shown.has("latency_p95") && !shown.has("latency_p99") && shown.has("trials"));
  const p50 = columns.find((column) => column.id === "latency_p50");
  assert.ok(p50?.kind === "number");
  assert.deepEqual([p50.measure(rows[1]!).value, p50.measure(rows[1]!).note], [null, "crashed in phase load"]);
});

test("a race shows its objective, of a load too, unless the table has it anyway", () => {
  const load = (holds: boolean): object => ({ load: { figures: { response_p99: { ...estimate(0.2, holds ? "" : "needs 662"), unit: "s", lower_is_better: true, holds } } } });
  const rows = [subject(0, "a", load(true)), subject(1, "b", load(false)), subject(2, "c")].map((each) => ({ subject: each, label: each.label, lower: true, decided: true }) as unknown as TuningRow);
  const column = tuningColumns("response_p99", "s").find((each) => each.id === "objective");
  assert.ok(column?.kind === "number" && column.quantity === "s" && column.title === "response p99");
  assert.deepEqual(rows.map((row) => [column.measure(row).value, column.measure(row).note]), [[0.2, ""], [null, "needs 662"], [null, undefined]]);
  assert.equal(tuningColumns("throughput", "items/s").find((each) => each.id === "objective"), undefined);
});

test("a race by a figure of answers is turned as it is better", () => {
  const rate = { name: "output_tokens_rate", ...estimate(90), unit: "tokens/s" };
  const row = { subject: subject(0, "a", { counters: [rate] }), label: "a", lower: false, decided: true, setting: { fate: "worse", behind: Math.log(100 / 90), behind_interval: null } } as unknown as TuningRow;
  assert.ok(Math.abs((behind(row).value ?? 0) + 0.1) < 1e-12);
  const column = tuningColumns("output_tokens_rate", "tokens/s").find((each) => each.id === "objective");
  assert.ok(column?.kind === "number");
  assert.equal(column.measure(row).value, 90);
});

test("counters of one name and two units are two columns", () => {
  const counter = (unit: string, value: number): object => ({ counters: [{ name: "copies", ...estimate(value), unit }] });
  const rows = subjectRows(runOf([subject(0, "a", counter("s", 0.5)), subject(1, "b", counter("ms", 300))], []));
  const columns = runColumns(rows, null, { chosen: null }).filter((column) => column.title === "copies");
  assert.deepEqual(columns.map((column) => column.id), ["counter copies s", "counter copies ms"]);
  assert.deepEqual(columns.map((column) => column.kind === "number" && rows.map((row) => column.measure(row).value)), [[0.5, null], [null, 300]]);
});

test("settings: what was not executed as asked departs, what was left open does not", () => {
  const run = runOf([subject(0, "a"), subject(1, "b")], [trial(0, { executed: { dtype: "bfloat16", device: "cpu", threads: "2" } }), trial(1, { executed: { dtype: "bfloat16", device: "cpu", threads: "2" } })]);
  const settings = settingsOf(run);
  assert.deepEqual(settings.differing, ["dtype"]);
  assert.equal(settings.rows[0]?.settings.get("dtype")?.text, "asked float32, executed bfloat16");
  assert.equal(settings.common.find((each) => each.name === "device")?.text, "cpu");
});

test("settings: of a subject that never ran nothing is known that was left open", () => {
  const settings = settingsOf(runOf([subject(0, "a"), subject(1, "b")], [trial(0, { executed: { device: "cpu", threads: "2" } }), trial(1, { end: "load_failed" })]));
  assert.deepEqual(settings.differing, []);
});

test("settings: an option that one subject has differs from none", () => {
  const settings = settingsOf(runOf([subject(0, "a"), subject(1, "b")], [], [planned("float32", { options: { streams: "1" } }), planned("float32")]));
  assert.deepEqual(settings.differing, ["option streams"]);
});

test("trials that failed come first, and those that ended alike are reported once", () => {
  const run = runOf([subject(0, "a")], [trial(0), trial(0, { process: 1, end: "crashed" }), trial(0, { process: 2, end: "crashed" }), trial(0, { process: 3, end: "crashed", stderr_tail: "x" })]);
  const rows = trialRows(run, null);
  assert.deepEqual(rows.map((row) => row.trial.process), [1, 2, 3, 0]);
  assert.deepEqual(failureGroups(rows).map((group) => group.length), [2, 1]);
});

const comparison = (more: Partial<PrimaryComparison>): PrimaryComparison =>
  ({ metric: "latency_p50", lower_is_better: true, pairs: 5, estimate: Math.log(1.1), interval: { low: Math.log(1.05), high: Math.log(1.2), confidence: 0.95 }, ...more }) as PrimaryComparison;

test("a change is of the metric's own value: positive is worse only in the document", () => {
  const close = (a: number | null | undefined, b: number): void => assert.ok(Math.abs((a ?? NaN) - b) < 1e-12, `${a} is not ${b}`);
  const slower = changeOf(comparison({}));
  close(slower.value, 0.1);
  close(slower.interval?.low, 0.05);
  const less = changeOf(comparison({ metric: "throughput", lower_is_better: false }));
  close(less.value, 1 / 1.1 - 1);
  close(less.interval?.low, 1 / 1.2 - 1);
  close(less.interval?.high, 1 / 1.05 - 1);
  assert.equal(changeOf(comparison({ estimate: null })).value, null);
});

test("a row has the document's direction, in words that suit its metric", () => {
  const row = (each: PrimaryComparison, direction: Direction): [string, string] => verdictOf({ comparison: each, direction, decides: false, baseline: "", candidate: "" });
  assert.deepEqual(row(comparison({}), "slower"), ["slower", "warning"]);
  assert.deepEqual(row(comparison({ metric: "memory_peak" }), "slower"), ["worse", "warning"]);
  assert.deepEqual(row(comparison({ metric: "throughput" }), "faster"), ["better", "good"]);
  assert.deepEqual(row(comparison({}), "equivalent"), ["equivalent", "plain"]);
  assert.deepEqual(row(comparison({}), "unresolved"), ["undecided", "faint"]);
});

test("an expectation's value, interval and bound share a unit where it has one", () => {
  const judged = { unit: "s", value: 0.0382, interval: { low: 0.0378, high: 0.0386, confidence: 0.95 }, threshold: 0.04, relation: "<=" } as Gate["verdicts"][number];
  assert.deepEqual(figureText(judged), { value: "38.2 ms", interval: "[37.8, 38.6] ms", threshold: "≤ 40.0 ms" });
  assert.deepEqual(figureText({ ...judged, unit: "share", value: 0.0873, interval: null, threshold: 0.1 }), { value: "8.73 %", interval: "", threshold: "≤ 10.0 %" });
  assert.equal(figureText({ ...judged, value: null, interval: null }).value, "–");
});

test("a count over all reports leaves out what was not asked", () => {
  const part = (outcome: string): Part => ({ outcome }) as Part;
  assert.equal(tally(["pass", "pass", "fail", "none"].map(part)), "2 of 3 passed; 1 failed, 1 not asked.");
  assert.equal(tally(["none", "none"].map(part)), "2 reports; none of them was asked to pass anything.");
});

test("a machine's facts: what is not known is not shown as 0 or no", () => {
  const facts = machineFacts({ machine: "f", processor: "p", hostname: "", command: "", cores: 0, turbo: null, swap_used_bytes: 0, novel: [1] } as Partial<Environment>).flatMap((group) => group.facts);
  const of = (name: string): string | undefined => facts.find((fact) => fact.name === name)?.value;
  assert.deepEqual([of("cores"), of("turbo"), of("swap in use"), of("novel")], ["", "", "0 B", "[1]"]);
});
