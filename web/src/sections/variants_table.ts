// Variants of a model: what each costs, what it brings, and what it answers differently.
import type { PlainEstimate, Variants } from "../document.ts";
import { MISSING, unitFor } from "../format.ts";
import type { Quantity } from "../format.ts";
import { grid } from "./grid.ts";
import { cellOf } from "./grid_model.ts";
import type { Column, Grouping, Measure } from "./grid_model.ts";
import { wordsOf } from "./subjects.ts";

type Variant = Variants["variants"][number];
type Measurement = Variant["measurements"][number];

export interface VariantRow {
  variant: Variant;
  measured: Measurement | null; // null: failed, or not measured
  baseline: boolean;
}

export function variantRows(variants: Variants): VariantRow[] {
  return variants.variants.flatMap((variant, index): VariantRow[] => {
    const baseline = index === 0; // the model as it was given
    return variant.measurements.length === 0 ? [{ variant, measured: null, baseline }] : variant.measurements.map((measured) => ({ variant, measured, baseline }));
  });
}

function measured(id: string, title: string, quantity: Quantity, of: (measurement: Measurement) => PlainEstimate | null): Column<VariantRow> {
  return {
    kind: "number", id, title, quantity,
    measure: (row): Measure => {
      const estimate = row.measured === null ? null : of(row.measured);
      if (estimate === null && row.baseline && id === "speed_up" && row.measured !== null) return { value: null, instead: "baseline" };
      return { value: estimate?.value ?? null, interval: estimate?.interval, note: estimate === null ? row.variant.failure ?? "" : "" };
    },
  };
}

function stateOf({ variant, measured: m }: VariantRow): string {
  return variant.failure !== null ? "failed" : m === null ? "not measured" : "";
}

function place({ variant }: VariantRow): string {
  if (variant.failure !== null) return MISSING;
  return variant.pareto.place === "front" ? "on the front" : wordsOf(variant.pareto.place);
}

// Perplexity with what it is more than the baseline's beneath; the increase has a column of its own for those who sort by it.
const increase: Column<VariantRow> = {
  kind: "number", id: "increase", title: "perplexity increase", quantity: "share", signed: true, about: "Against the baseline's, on the same texts.",
  measure: ({ variant }) => ({ value: variant.texts?.increase ?? null, interval: variant.texts?.interval }),
};

function increaseText(row: VariantRow): string {
  const { text, sub } = cellOf(increase, row, unitFor("share", 1));
  return text === MISSING ? "" : [`${text} %`, sub].filter((each) => each !== "").join(" ");
}

// What a language model answers differently.
const quality: Column<VariantRow>[] = [
  { kind: "number", id: "perplexity", title: "perplexity", quantity: "plain", folds: true, about: "Of texts; beneath it how much more it is than the baseline's, with its interval.", measure: (row) => ({ value: row.variant.texts?.perplexity ?? null, sub: increaseText(row) }) },
  increase,
  { kind: "number", id: "divergence", title: "KL divergence", quantity: "plain", about: "Of the distribution of the next token from the baseline's, in nats.", measure: ({ variant }) => ({ value: variant.texts?.kl_divergence ?? null }) },
  { kind: "number", id: "top1", title: "same top-1", quantity: "share", about: "Share of tokens behind which both have the same first choice.", measure: ({ variant }) => ({ value: variant.texts?.top1_agreement ?? null }) },
];

const outputError: Column<VariantRow> = {
  kind: "number", id: "error", title: "output error", quantity: "plain",
  about: "Relative L2 distance to the baseline's outputs, of the output in which it is largest.",
  measure: ({ variant }) => ({ value: variant.output_error }),
};

// What is asked first of a variant stands first: whether it is worth having, its size, its speed, its answers.
function columns({ variants, batch_sizes: sizes }: Variants): Column<VariantRow>[] {
  const answers = variants.some(({ measurements }) => measurements.some((each) => each.tpot_p50_s !== undefined));
  const speed = [measured("latency", "latency p50", "s", (each) => each.latency_p50_s), measured("speed_up", "speed-up", "ratio", (each) => each.speed_up)];
  return [
    { kind: "text", id: "variant", title: "variant", text: ({ variant }) => variant.label, sub: (row) => [row.variant.kind === row.variant.label ? "" : row.variant.kind, stateOf(row)].filter((each) => each !== "").join(", "), note: ({ variant }) => variant.failure ?? "" },
    {
      kind: "text", id: "pareto", title: "Pareto front",
      about: "A variant is on the front if no other one is better in one number and no worse in the others. Differences within the intervals are ignored.",
      text: place,
      tone: ({ variant }) => (variant.failure === null && variant.pareto.place === "front" ? "good" : null),
      note: ({ variant }) => (variant.pareto.dominated_by.length > 0 ? `${variant.label} is dominated by ${variant.pareto.dominated_by.join(", ")}` : ""),
    },
    ...(sizes.length > 1 ? [{ kind: "number", id: "batch", title: "batch size", quantity: "count", measure: (row: VariantRow) => ({ value: row.measured?.batch_size ?? null }) } as const] : []),
    { kind: "number", id: "size", title: "model size", quantity: "bytes", measure: ({ variant }) => ({ value: variant.size_bytes }) },
    measured("ttft", "TTFT p50", "s", (each) => each.ttft_p50_s ?? null),
    measured("tpot", "TPOT p50", "s", (each) => each.tpot_p50_s ?? null),
    ...(answers ? [] : speed),
    ...quality,
    ...(answers ? speed : []), // of whole answers: TTFT and TPOT say more
    outputError,
    { kind: "number", id: "accuracy", title: "accuracy", quantity: "share", measure: ({ variant }) => ({ value: variant.accuracy }) },
    measured("memory", "memory", "bytes", (each) => each.memory_peak_bytes),
    measured("device_memory", "device memory", "bytes", (each) => each.device_memory_peak_bytes),
    measured("throughput", "throughput", "items/s", (each) => each.throughput_ips),
    { kind: "number", id: "parameters", title: "parameters", quantity: "count", measure: ({ variant }) => ({ value: variant.model?.parameters ?? null }) },
    { kind: "number", id: "nonzero", title: "parameters not zero", quantity: "count", measure: ({ variant }) => ({ value: variant.model?.nonzero_parameters ?? null }) },
    { kind: "text", id: "remarks", title: "remarks", text: ({ variant }) => variant.remarks.join("; ") },
    { kind: "text", id: "made", title: "made by", text: ({ variant }) => variant.model?.made ?? "" },
  ];
}

const groupings: Grouping<VariantRow>[] = [
  { id: "kind", label: "kind", key: ({ variant }) => variant.kind },
  { id: "batch", label: "batch size", key: (row) => String(row.measured?.batch_size ?? MISSING) },
];

// Its throughput is one inference by its latency, and weights of fewer bits are as many.
function isLanguageModel({ variants }: Variants): boolean {
  return variants.some(({ texts, measurements }) => texts !== undefined || measurements.some((each) => each.tpot_p50_s !== undefined));
}

export function variantsTable(variants: Variants): HTMLElement | null {
  if (variants.variants.length === 0) return null;
  return grid({
    caption: `Variants of ${variants.model}`,
    columns: columns(variants),
    rows: variantRows(variants),
    off: new Set(["nonzero", "made", "increase", ...(isLanguageModel(variants) ? ["throughput", "parameters"] : [])]),
    groupings,
    mark: ({ variant }) => (variant.failure === null ? undefined : "failed"),
    legend: [`The Pareto front is of ${variants.pareto_figures.join(", ")}.`, ...variants.notes].join(" "),
  });
}
