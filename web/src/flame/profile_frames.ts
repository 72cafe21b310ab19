// The frames of one subject's profile: model, kinds, operators, kernels, and the rest as a frame of its own.
import type { OperatorTable, ProfiledOperator } from "../document.ts";
import { digits, format, interval, percent, unitFor, whole } from "../format.ts";
import { leaf, parent } from "./frames.ts";
import type { Frame } from "./frames.ts";

export const restName = "(rest)";
// The kind of which nothing is reported.
export const kindName = (kind: string): string => (kind === "" ? "(kind unknown)" : kind);
const ofOneSide = (seconds: number): Frame["values"] => ({ a: seconds, b: 0, difference: seconds });

// Operators by kind, in the order in which kinds come up.
export function byKind<T extends { kind: string }>(all: readonly T[]): Map<string, T[]> {
  const kinds = new Map<string, T[]>();
  for (const each of all) {
    const known = kinds.get(each.kind);
    if (known === undefined) kinds.set(each.kind, [each]);
    else known.push(each);
  }
  return kinds;
}

export function profileFrames(table: OperatorTable, label: string): Frame {
  const kinds = [...byKind(table.operators)].map(([kind, operators], index) =>
    parent({
      key: String(index),
      level: "kind",
      name: () => kindName(kind),
      color: index,
      words: kind,
      about: () => [["operators", whole(operators.length)]],
      children: operators.map((operator) => operatorFrame(operator, index, table)),
    }),
  );
  const rest = leaf({
    key: "rest",
    level: "rest",
    name: () => restName,
    values: ofOneSide(table.rest.mean_s),
    color: -1,
    words: restName,
    about: () => [["", "what no operator explains"], ...timeRows(table, table.rest)],
  });
  const root = parent({ key: "", level: "model", name: () => label, color: -2, words: "", children: [...kinds, rest] });
  // Widest first, but what no operator explains is always last.
  root.children = [...root.children.filter((child) => child !== rest), rest];
  return root;
}

function operatorFrame(operator: ProfiledOperator, color: number, table: OperatorTable): Frame {
  const values = ofOneSide(operator.mean_s);
  const about = (): [string, string][] => operatorRows(operator, table);
  const kernel = leaf({ key: "kernel", level: "kernel", name: () => operator.kernel, values, color, words: operator.kernel, about });
  return leaf({
    key: String(operator.op),
    level: "operator",
    name: () => operator.name,
    values,
    color,
    words: [operator.name, ...operator.nodes].join("\n"),
    about,
    children: operator.kernel === "" ? [] : [kernel],
  });
}

function timeRows(table: OperatorTable, time: { mean_s: number; low_s: number | null; high_s: number | null }): [string, string][] {
  if (table.distorted || time.low_s === null || time.high_s === null) return [];
  const unit = unitFor("s", time.mean_s);
  return [["interval", `${interval(time.low_s, time.high_s, unit)} ${unit.name}`]];
}

export function operatorRows(operator: ProfiledOperator, table: OperatorTable): [string, string][] {
  const row = (title: string, text: string): [string, string][] => (text === "" ? [] : [[title, text]]);
  return [
    ...timeRows(table, operator),
    ...row("kernel", operator.kernel),
    ...row("precision", operator.precision),
    ...row("layout", operator.layout),
    ...row("shapes", operator.shapes),
    ...row("nodes", operator.nodes.slice(0, 5).join(", ") + (operator.nodes.length > 5 ? `, and ${operator.nodes.length - 5} more` : "")),
    ...row("calls", operator.calls === 1 ? "" : digits(operator.calls)),
    ...(operator.roofline === null || table.distorted ? [] : row("of the roof", `${percent(operator.roofline.fraction)}, bound by ${operator.roofline.bound}`)),
    ...row("moves", operator.moved_bytes === null ? "" : format("bytes", operator.moved_bytes)),
  ];
}
