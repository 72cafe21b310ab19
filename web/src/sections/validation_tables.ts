// A validation: how far each output is apart, the samples in which it is worst, and both sides' accuracy.
import { sampleFigures, wholeFigures } from "../difference_figures.ts";
import type { DifferenceFigure, SampleFigures } from "../difference_figures.ts";
import type { Accuracy, OutputDifference, Validation, ValidationSample } from "../document.ts";
import { digits, MISSING, percent, probability } from "../format.ts";
import { grid } from "./grid.ts";
import type { Column, Measure } from "./grid_model.ts";

interface OutputRow {
  what: string;
  allowed: number | null;
  floor: number | null;
  difference: OutputDifference;
}

// Read for the figures that outputs and single samples share.
type Distances = OutputDifference | ValidationSample;

function distances<Row>(of: (row: Row) => Distances, reason: (row: Row) => string): Column<Row>[] {
  const number = ({ id, title, unit }: DifferenceFigure<SampleFigures>): Column<Row> => ({
    kind: "number", id, title, ...quantityOf(unit), measure: (row): Measure => ({ value: of(row)[id], note: of(row)[id] === null ? reason(row) : "" }),
  });
  return [
    {
      kind: "number", id: "max", title: "largest difference", quantity: "plain", folds: true, about: "Largest absolute difference of an element, and which element that is.",
      measure: (row) => {
        const { max_absolute: value, max_absolute_place: at, reference_at_max: reference, candidate_at_max: candidate } = of(row);
        const values = reference === null || candidate === null ? "" : `: ${reference} in the baseline, ${candidate} in the candidate`;
        return { value, sub: at === "" ? "" : `at ${at}`, about: at === "" ? "" : `${at}${values}`, note: value === null ? reason(row) : "" };
      },
    },
    ...sampleFigures.map((figure) => number(figure)),
    {
      kind: "text", id: "mismatched", title: "beyond tolerance",
      text: (row) => (of(row).mismatched > 0 ? `${of(row).mismatched} of ${of(row).element_count}` : `none of ${of(row).element_count}`),
      order: (row) => of(row).mismatched / Math.max(1, of(row).element_count),
    },
    { kind: "number", id: "non_finite", title: "finite in one only", quantity: "count", measure: (row) => ({ value: of(row).non_finite_apart || null }) },
  ];
}

function quantityOf(unit: "" | "dB" | "share"): { quantity: "plain" | "share"; unit?: string } {
  return unit === "share" ? { quantity: "share" } : { quantity: "plain", ...(unit === "" ? {} : { unit }) };
}

const hiddenOf = (figures: { id: string; hidden: boolean }[]): string[] => figures.filter((each) => each.hidden).map((each) => each.id);

export function outputsTable(validation: Validation): HTMLElement | null {
  const rows: OutputRow[] = validation.outputs.map(({ allowed, floor, difference }) => ({ what: difference.name, allowed, floor, difference }));
  if (rows.length === 0) return null;
  const number = (id: string, title: string, about: string, of: (row: OutputRow) => number | null): Column<OutputRow> => ({ kind: "number", id, title, quantity: "plain", about, measure: (row) => ({ value: of(row) }) });
  const [max, ...others] = distances<OutputRow>((row) => row.difference, (row) => row.difference.reason);
  const columns: (Column<OutputRow> | undefined)[] = [
    { kind: "text", id: "output", title: "output", text: (row) => row.what, sub: ({ difference: d }) => `${d.dtype} [${d.shape.join(", ")}]` },
    {
      kind: "text", id: "agree", title: "within tolerance",
      text: ({ difference: d }) => (!d.comparable ? "not comparable" : !d.within_tolerance ? "differs" : d.undecided === "" ? "agrees" : "undecided"),
      tone: ({ difference: d }) => (!d.comparable || !d.within_tolerance ? "bad" : d.undecided === "" ? "good" : "warning"),
      note: ({ difference: d }) => d.reason || d.undecided,
    },
    max,
    number("allowed", "allowed", "The largest difference that is within the tolerance.", (row) => row.allowed),
    number("floor", "floor", "What the baseline differs from itself by when it runs twice.", (row) => row.floor),
    ...others,
    ...wholeFigures.map(({ id, title, unit }): Column<OutputRow> => ({ kind: "number", id, title, ...quantityOf(unit), measure: ({ difference: d }) => ({ value: d[id] }) })),
  ];
  return grid({
    caption: `Outputs of ${validation.candidate.label} against ${validation.baseline.label}`,
    columns: columns.filter((column): column is Column<OutputRow> => column !== undefined),
    rows,
    off: new Set(hiddenOf([...sampleFigures, ...wholeFigures])),
    legend: `${validation.data.items} data items. Tolerance: ${tolerances(validation)}.`,
  });
}

function tolerances(validation: Validation): string {
  const said = new Set(validation.outputs.map(({ difference: d }) => `${digits(d.tolerance_relative)} relative, ${digits(d.tolerance_absolute)} absolute`));
  return said.size === 0 ? MISSING : [...said].join("; ");
}

export function samplesTable(validation: Validation): HTMLElement | null {
  if (validation.samples.length === 0) return null;
  return grid<ValidationSample>({
    caption: "Samples that are furthest apart",
    columns: [
      { kind: "text", id: "sample", title: "sample", text: (row) => (row.name === "" ? `item ${row.item}` : row.name), sub: (row) => (row.name === "" || row.name === `item ${row.item}` ? "" : `item ${row.item}`) },
      { kind: "text", id: "output", title: "output", text: (row) => row.output },
      { kind: "text", id: "agree", title: "within tolerance", text: (row) => (row.within_tolerance ? "agrees" : "differs"), tone: (row) => (row.within_tolerance ? "good" : "bad") },
      ...distances<ValidationSample>((row) => row, () => ""),
    ],
    rows: validation.samples,
    off: new Set(hiddenOf(sampleFigures)),
  });
}

interface AccuracyRow {
  side: string;
  role: string;
  accuracy: Accuracy;
}

function rowsOf({ labels, masks }: Accuracy): string {
  return labels !== null ? `${labels.rows} rows` : masks !== null ? `${masks.pixels} pixels` : "";
}

export function accuracyTable(validation: Validation): HTMLElement | null {
  const rows: AccuracyRow[] = [
    { side: validation.baseline.label, role: "baseline", accuracy: validation.baseline.accuracy },
    { side: validation.candidate.label, role: "candidate", accuracy: validation.candidate.accuracy },
  ].flatMap(({ side, role, accuracy }) => (accuracy === null ? [] : [{ side, role, accuracy }]));
  if (rows.length === 0) return null;
  const share = (id: string, title: string, of: (accuracy: Accuracy) => Measure, more: { signed?: boolean; about?: string } = {}): Column<AccuracyRow> => ({ kind: "number", id, title, quantity: "share", measure: (row) => of(row.accuracy), ...more });
  const drop = validation.drop;
  return grid<AccuracyRow>({
    caption: "Accuracy of both",
    columns: [
      { kind: "text", id: "side", title: "subject", text: (row) => row.side, sub: (row) => row.role },
      share("accuracy", "accuracy", (accuracy) => ({ value: accuracy.value, interval: accuracy.interval, about: rowsOf(accuracy) })),
      share("change", "change", ({ change }) => ({ value: change?.value ?? null, interval: change?.interval }), { signed: true, about: "Against the baseline on the same rows, in percentage points." }),
      { kind: "number", id: "p", title: "p", quantity: "plain", measure: ({ accuracy }) => ({ value: accuracy.change?.p ?? null }), show: probability },
      share("top5", "top-5", ({ labels }) => ({ value: labels?.top5_share ?? null })),
      share("iou", "mean IoU", ({ masks }) => ({ value: masks?.mean_iou ?? null })),
      share("dice", "mean Dice", ({ masks }) => ({ value: masks?.mean_dice ?? null })),
      { kind: "text", id: "of", title: "of", text: ({ accuracy }) => rowsOf(accuracy) },
      { kind: "text", id: "only", title: "right in one only", text: ({ accuracy: { change } }) => (change === null ? MISSING : `baseline ${change.reference_only}, candidate ${change.candidate_only}`), about: "Rows that one side gets right and the other does not." },
    ],
    rows,
    ...(drop === null ? {} : { legend: `A drop of ${percent(drop.allowed)} is allowed.` }),
  });
}
