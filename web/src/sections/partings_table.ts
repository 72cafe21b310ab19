// Where two answers part: what both have before it, and what each goes on with.
import type { OutputDifference, Parting, Run, Validation } from "../document.ts";
import { percent } from "../format.ts";
import { grid } from "./grid.ts";
import type { Column } from "./grid_model.ts";

export interface PartingRow {
  subject: string;
  against: string;
  item: string;
  parting: Parting;
}

function rowsOf(differences: OutputDifference[], subject: string, against: string, nameOf: (item: number) => string): PartingRow[] {
  return differences.flatMap(({ partings }) => (partings ?? []).map((parting) => ({ subject, against, item: nameOf(parting.item), parting })));
}

export function partingRows(run: Run | null, validation: Validation | null): PartingRow[] {
  const named = (item: number): string => validation?.samples.find((sample) => sample.item === item)?.name ?? `item ${item}`;
  return [
    ...(run?.subjects ?? []).flatMap(({ label, outputs }) => (outputs === null ? [] : rowsOf(outputs.differences, label, run?.subjects[outputs.reference]?.label ?? "", (item) => `item ${item}`))),
    ...(validation === null ? [] : rowsOf(validation.outputs.map(({ difference }) => difference), validation.candidate.label, validation.baseline.label, named)),
  ];
}

// "… 17 99 5", and "5 17 …" where more follow.
export function beforeText({ before, position }: Parting): string {
  return [...(position > before.length ? ["…"] : []), ...before].join(" ");
}

export function behindText(values: number[], { position, length }: Parting): string {
  return [...values, ...(position + values.length < length ? ["…"] : [])].join(" ");
}

function quoted(text: string | undefined): string | undefined {
  return text === undefined ? text : `"${text}"`;
}

export function partingsTable(run: Run | null, validation: Validation | null): HTMLElement | null {
  const rows = partingRows(run, validation);
  if (rows.length === 0) return null;
  const text = (id: string, title: string, of: (row: PartingRow) => string): Column<PartingRow> => ({ kind: "text", id, title, text: of });
  const answer = (id: string, title: string, written: (parting: Parting) => string | undefined, of: (parting: Parting) => string): Column<PartingRow> => ({
    kind: "text", id, title, code: true, long: true,
    text: ({ parting }) => quoted(written(parting)) ?? of(parting),
    sub: ({ parting }) => (written(parting) === undefined ? "" : of(parting)),
  });
  return grid<PartingRow>({
    caption: "Where answers part",
    columns: [
      text("subject", "subject", (row) => row.subject),
      text("against", "against", (row) => row.against),
      text("item", "prompt", (row) => row.item),
      {
        kind: "text", id: "position", title: "the same until", text: ({ parting }) => `${parting.position} of ${parting.length}`,
        sub: ({ parting }) => percent(parting.position / parting.length), order: ({ parting }) => parting.position / parting.length,
      },
      answer("before", "both before it", (parting) => parting.before_text, beforeText),
      answer("reference", "baseline continues with", (parting) => parting.reference_text, (parting) => behindText(parting.reference, parting)),
      answer("candidate", "subject continues with", (parting) => parting.candidate_text, (parting) => behindText(parting.candidate, parting)),
    ],
    rows,
    legend: "Text where the tokenizer is known, and tokens by their numbers. After one rounding the rest of an answer may be another one: how far the scores of a text are apart says more.",
  });
}
