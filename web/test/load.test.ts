// What tables and pictures of loads decide before anything is drawn.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { LoadProcess, Run, RunFigures, RunSubject, Validation } from "../src/document.ts";
import { courseOf, loadPictures, percentileName, pointsOf, tailPlaces } from "../src/pictures/load.ts";
import type { Measured } from "../src/pictures/trials.ts";
import { generationPictures } from "../src/pictures/generation.ts";
import { coursePictures, growthText } from "../src/pictures/token_course.ts";
import { beforeText, behindText, partingRows } from "../src/sections/partings_table.ts";
import { askedText, generationRows, loadRows } from "../src/sections/load_table.ts";

const process = {
  process: 0,
  completed: 30,
  timeline: { bin_s: 0.5, arrived: [10, 20], completed: [5, 25], failed: [0, 0], in_flight: [5, 0], slowest_s: [0.1, 0.2] },
  percentiles: { share: [0.5, 0.9, 0.99, 1], response_s: [0.01, 0.02, 0.5, 0.9], service_s: [], lag_s: [0, 0, 0, 0] },
} as unknown as LoadProcess;

function subject(index: number, rate: number, p99: number, holds: boolean): RunSubject {
  const figure = (value: number): object => ({ value, interval: null, note: "", method: "", unit: "", lower_is_better: true, holds });
  return { index, label: `s${index}`, counters: [], load: { asked: { scenario: "server", rate: "40", arrivals: "gamma:2" }, valid: holds, requests: 30, findings: [], figures: { achieved_rate: figure(rate), response_p99: figure(p99) }, processes: [process], error_kinds: [] } } as unknown as RunSubject;
}

function measuredOf(subjects: RunSubject[]): Measured {
  return { run: { subjects, trials: [] } as unknown as Run, figures: null, names: subjects.map((each) => each.label), subjects, variants: null };
}

test("the tail has a step for each nine, and no place for the largest", () => {
  assert.deepEqual(tailPlaces(process, "response_s").map((place) => Number(place.times.toPrecision(6))), [2, 10, 100]);
  assert.deepEqual(tailPlaces(process, "service_s"), []);
  assert.equal(percentileName(0.999), "p99.9");
});

test("counts of a bin are drawn per second, levels as they are", () => {
  assert.deepEqual(courseOf(process, "arrived"), [{ at: 0.5, value: 20 }, { at: 1, value: 40 }]);
  assert.deepEqual(courseOf(process, "in_flight").map((point) => point.value), [5, 0]);
  assert.deepEqual(courseOf(process, "slowest_s").map((point) => point.value), [0.1, 0.2]);
});

test("several loads are the points of a curve, and those that do not hold say so", () => {
  const m = measuredOf([subject(0, 40, 0.01, true), subject(1, 80, 0.9, false)]);
  assert.deepEqual(pointsOf(m, "response_p99").map((point) => [point.rate, point.holds]), [[40, true], [80, false]]);
  assert.deepEqual(pointsOf(m, "response_p50"), []);
  assert.deepEqual(loadPictures(m).map((picture) => picture.id), ["load-rate", "load-tail", "load-timeline"]);
  assert.deepEqual(loadPictures(measuredOf([subject(0, 40, 0.01, true)])).map((picture) => picture.id), ["load-tail", "load-timeline"]);
});

test("subjects that are not under load have no row", () => {
  const plain = { index: 1, label: "plain", counters: [] } as unknown as RunSubject;
  const run = { subjects: [subject(0, 40, 0.01, true), plain] } as unknown as Run;
  assert.equal(loadRows(run).length, 1);
  assert.deepEqual(loadPictures(measuredOf([plain])), []);
  assert.equal(askedText({ scenario: "server", rate: "40", arrivals: "gamma:2" }), "server, rate 40, gamma:2");
});

test("what can be compared with throughput is what at least two subjects have", () => {
  const choices = (subjects: RunSubject[]): string[] => loadPictures(measuredOf(subjects))[0]?.controls?.[0]?.choices.map((each) => each.value) ?? [];
  const two = [subject(0, 40, 0.01, true), subject(1, 80, 0.9, false)];
  assert.deepEqual(choices(two), ["response_p99"]);
  for (const each of two) (each.load as { figures: Record<string, unknown> }).figures["goodput"] = { value: 30, holds: true };
  assert.deepEqual(choices(two), ["response_p99", "goodput"]);
});

test("answers token by token are reported with and without a load", () => {
  const alone = { index: 1, label: "alone", counters: [{ name: "itl_p50", unit: "s", value: 0.01 }] } as unknown as RunSubject;
  const other = { index: 2, label: "other", counters: [{ name: "cache", unit: "1", value: 1 }] } as unknown as RunSubject;
  const loaded = subject(0, 40, 0.01, true);
  (loaded.load as { figures: Record<string, unknown> }).figures["ttft_p50"] = { value: 0.05, holds: true };
  assert.deepEqual(generationRows({ subjects: [loaded, alone, other] } as unknown as Run).map(({ index }) => index), [0, 1]);
});

test("times of answers are drawn of the subjects of their model, each bin a row of the data", () => {
  const m = measuredOf([subject(0, 40, 0.01, true)]);
  const figures = { generation: [
    { time: "ttft", log: false, edges_s: [0.1, 0.2, 0.3], subjects: [{ subject: 0, n: 8, shares: [0.25, 0.75] }, { subject: 5, n: 1, shares: [1, 0] }] },
    { time: "itl", log: true, edges_s: [0.1, 0.2], subjects: [{ subject: 5, n: 1, shares: [1] }] },
  ] } as unknown as RunFigures;
  const pictures = generationPictures({ ...m, figures });
  assert.deepEqual(pictures.map(({ id }) => id), ["generation-ttft"]);
  assert.deepEqual(pictures[0]?.data().rows, [["s0", 0.1, 0.2, 0.25], ["s0", 0.2, 0.3, 0.75]]);
  assert.equal(pictures[0]?.note?.(), "8 answers of each.");
  assert.deepEqual(generationPictures(m), []);
});

function course(points: object[], growth: object): RunFigures {
  return { courses: [{ time: "itl", subjects: [{ subject: 0, growth_s: growth, points }, { subject: 5, growth_s: growth, points }] }] } as unknown as RunFigures;
}

test("the course of a time is drawn where it has two points, with how much it grows", () => {
  const m = measuredOf([subject(0, 40, 0.01, true)]);
  const time = (value: number | null): object => ({ value, interval: value === null ? null : { low: value * 0.9, high: value * 1.1, confidence: 0.95 }, processes: 2 });
  const points = [{ first: 1, last: 1, tokens_mean: 1, n: 8, p50_s: time(0.01), p90_s: time(null) }, { first: 16, last: 17, tokens_mean: 16.5, n: 16, p50_s: time(0.02), p90_s: time(null) }];
  const growth = { value: 1.2e-6, interval: { low: 1e-6, high: 1.4e-6, confidence: 0.95 }, processes: 2 };
  const [picture, ...others] = coursePictures({ ...m, figures: course(points, growth) });
  assert.equal(picture?.id, "generation-itl-position");
  assert.equal(others.length, 0);
  assert.equal(picture?.note?.(), "s0: +1.20 ms [1.00, 1.40] per 1,000 tokens.");
  assert.equal(picture?.controls, undefined, "no p90 to choose");
  assert.deepEqual(picture?.data().rows[1], ["s0", 16, 17, 16.5, 0.02, 0.018000000000000002, 0.022000000000000002, null, null, null, 16]);
  assert.deepEqual(coursePictures({ ...m, figures: course(points.slice(0, 1), growth) }), []);
  assert.deepEqual(coursePictures(m), []);
  assert.equal(growthText({ value: -2e-6, interval: null, processes: 1 }), "−2.00 ms per 1,000 tokens");
  assert.equal(growthText({ value: 1e-7, interval: { low: -4e-5, high: 4.2e-5, confidence: 0.95 }, processes: 2 }), "no growth seen, +0.100 ms [-40.0, 42.0] per 1,000 tokens");
  assert.equal(growthText({ value: null, interval: null, processes: 0 }), "");
});

test("where answers part is reported about runs and of validations, with dots where more stands", () => {
  const parting = { item: 1, position: 9, length: 40, before: [1, 2], reference: [3, 4], candidate: [5, 6] };
  const outputs = { reference: 0, differences: [{ name: "tokens", partings: [parting] }, { name: "other" }] };
  const run = { subjects: [{ label: "a", outputs: null }, { label: "b", outputs }] } as unknown as Run;
  assert.deepEqual(partingRows(run, null).map(({ subject: of, against, item }) => [of, against, item]), [["b", "a", "item 1"]]);
  const validation = { baseline: { label: "x" }, candidate: { label: "y" }, samples: [{ item: 1, name: "q.txt" }], outputs: [{ difference: outputs.differences[0] }] } as unknown as Validation;
  assert.deepEqual(partingRows(null, validation).map(({ subject: of, against, item }) => [of, against, item]), [["y", "x", "q.txt"]]);
  assert.deepEqual([beforeText(parting), behindText(parting.candidate, parting)], ["… 1 2", "5 6 …"]);
  const short = { ...parting, position: 2, length: 4 };
  assert.deepEqual([beforeText(short), behindText(short.reference, short)], ["1 2", "3 4"]);
});
