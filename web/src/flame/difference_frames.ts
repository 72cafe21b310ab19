// The frames of a difference: what both subjects have in common, group by group, each as wide as its larger side.
import type { OperatorGroupDifference, OperatorTable, ProfileExplanation, ProfiledOperator } from "../document.ts";
import { format, probability } from "../format.ts";
import { leaf, parent } from "./frames.ts";
import type { Frame, Mode } from "./frames.ts";
import { byKind, kindName, restName } from "./profile_frames.ts";

export interface Side {
  label: string;
  table: OperatorTable | null;
}

type Operators = Map<number, ProfiledOperator>;

export function differenceFrames(why: ProfileExplanation, baseline: Side, subject: Side): Frame {
  const of = (side: Side): Operators => new Map((side.table?.operators ?? []).map((operator) => [operator.op, operator]));
  const operators: [Operators, Operators] = [of(baseline), of(subject)];
  const numbered = why.groups.map((group, index) => ({ group, index, kind: group.kind }));
  const rest = numbered.filter(({ group }) => isRest(group)).map(({ group, index }) => groupFrame(group, index, -1, operators));
  const kinds = [...byKind(numbered.filter(({ group }) => !isRest(group)))].map(([kind, groups], color) =>
    parent({
      key: `k${color}`,
      level: "kind",
      name: () => kindName(kind),
      color,
      words: kind,
      about: () => [["groups", String(groups.length)]],
      children: groups.map(({ group, index }) => groupFrame(group, index, color, operators)),
    }),
  );
  const root = parent({
    key: "",
    level: "model",
    name: (mode) => (mode === "a" ? baseline.label : mode === "b" ? subject.label : `${subject.label} against ${baseline.label}`),
    color: -2,
    words: "",
    children: [...kinds, ...rest],
    interval: { low: why.low_s, high: why.high_s },
    separable: why.low_s > 0 || why.high_s < 0,
  });
  root.children = [...root.children.filter((child) => !rest.includes(child)), ...rest];
  return root;
}

export const isRest = (group: OperatorGroupDifference): boolean => group.kind === restName && group.nodes.length === 0;

// "conv1", "conv1 and 2 more": nodes of the model, or the runtime's names where it executes none.
export function groupName(group: OperatorGroupDifference, operators: [Operators, Operators]): string {
  if (isRest(group)) return restName;
  const [ofBaseline, ofSubject] = operators;
  const own = [...group.in_baseline.map((op) => ofBaseline.get(op)), ...group.in_subject.map((op) => ofSubject.get(op))];
  const names = group.nodes.length > 0 ? group.nodes : [...new Set(own.flatMap((operator) => (operator === undefined ? [] : [operator.name])))];
  const [first] = names;
  if (group.is_helper && names.length !== 1) return `${kindName(group.kind)} (${names.length})`;
  return first === undefined ? kindName(group.kind) : names.length === 1 ? first : `${first} and ${names.length - 1} more`;
}

// One side has it, and the other has nothing.
export function onlyIn(group: OperatorGroupDifference): "baseline" | "subject" | null {
  if (isRest(group) || (group.in_baseline.length > 0) === (group.in_subject.length > 0)) return null;
  return group.in_baseline.length > 0 ? "baseline" : "subject";
}

function groupFrame(group: OperatorGroupDifference, index: number, color: number, operators: [Operators, Operators]): Frame {
  const name = groupName(group, operators);
  const values = { a: group.baseline_s, b: group.subject_s, difference: group.mean_s };
  const [ofBaseline, ofSubject] = operators;
  const reported = (of: Operators, which: number[], what: "kernel" | "name" | "precision" | "layout"): string =>
    [...new Set(which.flatMap((op) => of.get(op)?.[what] ?? []))].filter((text) => text !== "").join(" + ");
  const pair = (what: "kernel" | "name" | "precision" | "layout"): [string, string] => [reported(ofBaseline, group.in_baseline, what), reported(ofSubject, group.in_subject, what)];
  const kernels = pair("kernel");
  const missing = (which: number[]): string => (which.length === 0 ? "none" : "not reported");
  const changed = ([from, to]: [string, string]): string => (from === to ? from : `${from === "" ? missing(group.in_baseline) : from} → ${to === "" ? missing(group.in_subject) : to}`);
  const only = onlyIn(group);
  const row = (title: string, text: string): [string, string][] => (text === "" ? [] : [[title, text]]);
  const about = (): [string, string][] => [
    ["baseline", format("s", group.baseline_s)],
    ["subject", format("s", group.subject_s)],
    ["", group.separable ? "" : "not separable"],
    ["p", probability(group.p)],
    ...row("", only === null ? "" : `only in the ${only}`),
    ...row("operators", changed(pair("name"))),
    ...row("kernel", changed(kernels)),
    ...row("precision", changed(pair("precision"))),
    ...row("layout", changed(pair("layout"))),
  ];
  const shared = { values, color, interval: { low: group.low_s, high: group.high_s }, separable: group.separable, about };
  const kernelOf = (mode: Mode): string => (mode === "a" ? kernels[0] : mode === "b" ? kernels[1] : changed(kernels));
  const kernel = leaf({ ...shared, key: "kernel", level: "kernel", name: kernelOf, words: changed(kernels) });
  return leaf({
    ...shared,
    key: String(index),
    group: index,
    level: isRest(group) ? "rest" : "group",
    name: () => name,
    words: [name, ...group.nodes, ...pair("name")].join("\n"),
    children: kernels[0] === "" && kernels[1] === "" ? [] : [kernel],
  });
}
