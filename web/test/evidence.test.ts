// Pictures of histories, layers, validations, variants and differences: what they say without being drawn.
import assert from "node:assert/strict";
import { test } from "node:test";
import { sampleFigures } from "../src/difference_figures.ts";
import type { SampleFigures } from "../src/difference_figures.ts";
import type { DifferencePicture, History, Layers, Part, Validation, ValidationSample, Variants } from "../src/document.ts";
import type { Picture } from "../src/picture.ts";
import { differencePictures } from "../src/pictures/difference.ts";
import { levels, valueOf } from "../src/pictures/planes_view.ts";
import { historyPictures } from "../src/pictures/history.ts";
import { layersPictures } from "../src/pictures/layers.ts";
import { validationPictures } from "../src/pictures/validation.ts";
import { variantsPictures } from "../src/pictures/variants.ts";

const empty: Part = {
  kind: "run", title: "", outcome: "none", overview: { headline: { verdict: "", tone: "plain", text: "" }, margin: 0, effects: [], since_last: null }, answers: [], notices: [], checks: [], recommendations: [], run: null, figures: null, gate: null,
  validation: null, difference_pictures: [], variants: null, layers: null, history: null, graphs: [],
};

const only = (pictures: Picture[]): Picture => {
  assert.equal(pictures.length, 1);
  return pictures[0] as Picture;
};
const column = (picture: Picture, title: string): unknown[] => {
  const { columns, rows } = picture.data();
  const index = columns.findIndex((each) => each.title.startsWith(title));
  assert.ok(index >= 0, `no column ${title}`);
  return rows.map((row) => row[index]);
};

test("a part without their data has none of these pictures", () => {
  for (const maker of [differencePictures, historyPictures, layersPictures, validationPictures, variantsPictures]) assert.deepEqual(maker(empty), []);
});

// --- history ---

function history(values: number[], changes: { index: number; change: number }[]): History {
  const runs = values.map((value, i) => ({
    run: `r${i}`, at: `2026-01-0${i + 1}T00:00:00.000Z`, label: "a", value, low: i === 0 ? null : value * 0.9, high: i === 0 ? null : value * 1.1,
    processes: 3, runtime_version: null, model_sha256: null, git_commit: null, infermeter_version: null,
  }));
  const level = (first: number, last: number) => ({ first_run: `r${first}`, last_run: `r${last}`, runs: last - first + 1, value: values[first] ?? 0, sd_log: 0.1 });
  const starts = [0, ...changes.map((change) => change.index)];
  return {
    schema: "infermeter.history/1", metric: "latency_p50", unit: "s", lower_is_better: true, this_machine: "m", machines: [], answers: [], checks: [], hidden_runs: 0,
    series: [{
      series: "s", machine: "m", runs: values.length, first_at: null, last_at: null, last_value: null, left_out: 2, disturbed: 0, too_few: false,
      levels: starts.map((start, i) => level(start, (starts[i + 1] ?? values.length) - 1)),
      changes: changes.map(({ index, change }) => ({
        run: `r${index}`, at: "", index, change, worse: change > 0, by_scan: true, by_e_divisive: false, statistic: 9, p: 1, context: [],
      })),
      alarm: null, values: runs,
    }],
  };
}

test("a history's data have each run's level, and the change where it begins", () => {
  const picture = only(historyPictures({ ...empty, history: history([1, 1, 2, 2, 2], [{ index: 2, change: 1 }]) }));
  assert.deepEqual(column(picture, "level"), [1, 1, 2, 2, 2]);
  assert.deepEqual(column(picture, "change"), [null, null, 1, null, null]);
  assert.equal(picture.note?.(), "2 runs with a value of 0 left out. 1 run has no interval: that takes two processes.");
});

test("series without values have no picture", () => {
  const listed = history([1], []);
  listed.series.forEach((series) => (series.values = null));
  assert.deepEqual(historyPictures({ ...empty, history: listed }), []);
});

// --- layers ---

const tensor = (name: string, error: number | null, apart = 0): Layers["tensors"][number] => ({
  name, candidate_name: name, matched_by: "name", node: name, operator: "Conv", position: 0, dtype: "float32", candidate_dtype: "float32", shape: [1],
  reason: "", elements: 1, error, rounding_floor: 1e-5, relative_l2: error, relative_l1: error, relative_max: error, max_absolute: error,
  max_absolute_index: 0, mae: error, rmse: error, cosine: 1, non_finite_apart: apart,
});
const side = { label: "a", model: "m", backend: "b", executed: {} };
const layers = (tensors: Layers["tensors"]): Layers => ({
  schema: "infermeter.layers/1", created_at: "", hostname: "", reference: side, candidate: { ...side, label: "b" }, item: "", sandbox: "auto", note: "", answers: [], checks: [], least_jump: 10, first_difference: 1, jump: 2, worst: 2, before_jump: 1e-7, tensors,
  graph: { nodes: [], from: [], to: [], left_out: 0 }, reference_only: [], candidate_only: [],
});

test("the report's tensors are named where they stand, several names in one", () => {
  const picture = only(layersPictures({ ...empty, layers: layers([tensor("x", 0), tensor("y", 1e-7), tensor("z", 0.5)]) }));
  assert.deepEqual(column(picture, "mark"), [null, "first difference", "jump and worst"]);
  assert.equal(picture.note?.(), "1 tensor is the same in both: at the bottom, at 0.");
});

test("tensors without an error are counted by their reason", () => {
  const picture = only(layersPictures({ ...empty, layers: layers([tensor("x", 0.1), tensor("y", null, 4), tensor("z", null)]) }));
  assert.match(picture.note?.() ?? "", /1 tensor is NaN or infinite in one of the two only.*1 tensor has no error to draw/);
});

// --- validation ---

const noFigures = { mse: null, ...Object.fromEntries(sampleFigures.map(({ id }) => [id, null])) } as SampleFigures;
const sample = (item: number, max: number | null): ValidationSample => ({
  item, name: "", output: "y", within_tolerance: true, element_count: 1, mismatched: 0, non_finite_apart: 0, max_absolute: max, max_absolute_index: 0, max_absolute_place: "",
  reference_at_max: null, candidate_at_max: null, ...noFigures,
});

function validation(samples: ValidationSample[]): Validation {
  const one = { label: "a", model: "m", backend: "b", batch_size: 1, sha256: "", executed: {}, accuracy: null };
  return {
    schema: "infermeter.validation/1", created_at: "", hostname: "", outcome: "pass", answers: [], checks: [], agree: true, undecided: false, baseline: one, candidate: one, data: { source: "", labels: "", items: samples.length, perturb: 0, noise: 0, seed: 0 },
    sandbox: "auto", drop: null, perplexity: null, outputs: [], again: { items: 0, outputs: [] }, samples, diagnostics: [], times: { models_s: 0, again_s: 0, data_s: 0, whole_s: 0 },
  };
}

test("only measures that some sample has can be chosen, and samples without one are counted", () => {
  const picture = only(validationPictures({ ...empty, validation: validation([sample(0, 0.1), sample(1, null)]) }));
  assert.deepEqual(picture.controls?.map((control) => control.choices.map((choice) => choice.value)), [["max_absolute"]]);
  assert.match(picture.note?.() ?? "", /^1 sample has no largest \|difference\|/);
});

test("many samples are thinned, and that is said", () => {
  const picture = only(validationPictures({ ...empty, validation: validation(Array.from({ length: 5000 }, (_, i) => sample(i, i / 5000 + 1))) }));
  assert.match(picture.note?.() ?? "", /2000 of 5000 points are drawn; the smallest and largest of each stretch are kept/);
  assert.equal(picture.data().rows.length, 5000);
});

// --- differences ---

const plane = (values: number[]): string => btoa(String.fromCharCode(...values.map((value) => value >> 8), ...values.map((value) => value & 255)));
const difference: DifferencePicture = {
  output: "y", item: 3, name: "", where: "channel 0", rows: 2, columns: 3, full_rows: 4, full_columns: 7, scale: { low: -1, high: 1 }, max_difference: 0.5,
  plane: [0, 1], largest: { row: 3, column: 2 },
  reference: plane([0, 1, 2, 3, 4, 5]), candidate: plane([0, 1, 2, 3, 4, 5]), difference: plane([0, 0, 13106, 0, 65532, 0]),
};

test("the largest difference is placed in the whole output, in the words of its table", () => {
  const note = only(differencePictures({ ...empty, difference_pictures: [difference] })).note?.() ?? "";
  assert.match(note, /^Largest difference: 0\.5000 at \[0, 1, 3, 2\], row 3, column 2 of 4 × 7, counted from 0\. Thinned to 2 × 3 pixels/);
});

test("the data of a difference have its place, and the largest of each row", () => {
  const rows = only(differencePictures({ ...empty, difference_pictures: [difference] })).data().rows.slice(-3);
  assert.deepEqual(rows.map((row) => row[1]), ["[0, 1, 3, 2], row 3, column 2", 0.1, 0.5]);
});

test("levels are read as values with the digits that they are exact to", () => {
  assert.deepEqual([...levels(plane([0, 258, 65535]), 3)], [0, 258, 65535]);
  assert.equal(valueOf(0, -1, 1), "-1.0000");
  assert.equal(valueOf(65532, 0, 0.5), "0.50000");
  assert.equal(valueOf(1, 0, 0.5), "8e-6");
  assert.equal(valueOf(7, 3, 3), "3.000000");
  assert.deepEqual([65533, 65534, 65535].map((level) => valueOf(level, 0, 1)), ["−∞", "∞", "NaN"]);
});

test("a picture without pixels is left out", () => {
  assert.deepEqual(differencePictures({ ...empty, difference_pictures: [{ ...difference, rows: 0 }] }), []);
});

// --- variants ---

test("variants stand by size and speed-up; what lacks one of them is counted", () => {
  const variant = (label: string, size: number | null, speed: number | null): Variants["variants"][number] => ({
    label, kind: label, failure: null, model: null, size_bytes: size, output_error: null, accuracy: null, pareto: { place: "front", dominated_by: [] },
    recommendations: [], remarks: [],
    measurements: [{
      subject: 0, label, batch_size: 1, latency_p50_s: null, throughput_ips: null, speed_up: speed === null ? null : { value: speed, interval: null },
      memory_peak_bytes: null, device_memory_peak_bytes: null,
    }],
  });
  const variants: Variants = {
    schema: "infermeter.variants/1", created_at: "", finished: true, run: "r", model: "m", machine: "", batch_sizes: [1], answers: [], checks: [], pareto_figures: [], notes: [],
    variants: [variant("base", 100, null), variant("half", 50, 1.5), variant("unknown", null, 2), variant("unmeasured", 10, null)],
  };
  const picture = only(variantsPictures({ ...empty, variants }));
  assert.deepEqual(column(picture, "times smaller"), [1, 2]);
  assert.deepEqual(column(picture, "speed-up"), [null, 1.5]);
  assert.match(picture.note?.() ?? "", /^2 variants have no size or no speed-up/);
});
