// What the pictures of profiles have in common: the subjects that have one, their data, and when times cannot be read.
import type { OperatorTable, Profile } from "../document.ts";
import { restName } from "../flame/profile_frames.ts";
import type { Cell, Control, DataTable } from "../picture.ts";

export function tablesOf(profile: Profile): { subject: number; table: OperatorTable }[] {
  return profile.subjects.flatMap(({ subject, table }) => (table === null ? [] : [{ subject, table }]));
}

export function choice(label: string, choices: [string, string][], change: (value: string) => void): Control {
  return { label, choices: choices.map(([value, text]) => ({ value, label: text })), value: choices[0]?.[0] ?? "", change };
}

export function distortedText(table: OperatorTable): string {
  return table.distorted ? "Profiling slowed it by more than 5 %: widths and figures are shares, its times cannot be read." : "";
}

// Every operator, and the rest.
export function operatorData(table: OperatorTable, subject: string): DataTable {
  const titles = ["subject", "operator", "kind", "kernel", "precision", "layout", "shapes", "nodes", "found by"];
  const numbers = ["calls", "share", ...(table.distorted ? [] : ["time, s", "low, s", "high, s", "of the roof"]), "floating-point operations", "moved, bytes"];
  const times = (time: { mean_s: number; low_s: number | null; high_s: number | null }, fraction: number | null): Cell[] => (table.distorted ? [] : [time.mean_s, time.low_s, time.high_s, fraction]);
  const nothing: Cell[] = ["", "", "", "", "", ""];
  return {
    columns: [...titles.map((title) => ({ title, numeric: false })), ...numbers.map((title) => ({ title, numeric: true }))],
    rows: [
      ...table.operators.map((operator): Cell[] => [
        subject, operator.name, operator.kind, operator.kernel, operator.precision, operator.layout, operator.shapes, operator.nodes.join(", "), operator.rule,
        operator.calls, operator.share, ...times(operator, operator.roofline?.fraction ?? null), operator.flops, operator.moved_bytes,
      ]),
      [subject, restName, "", ...nothing, null, table.rest.share, ...times(table.rest, null), null, null],
    ],
  };
}
