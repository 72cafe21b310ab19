// Sampled call stacks as tables, and in a few words.
import type { OperatorTable, StackDifference, StackFunction, StackProfile } from "../document.ts";
import { visible } from "../dom.ts";
import { functionName, notSampledName, outsideName } from "../flame/stack_frames.ts";
import { format, percent, whole } from "../format.ts";
import type { Cell, DataTable } from "../picture.ts";
import { sentences } from "./trials.ts";

const text = (title: string): DataTable["columns"][number] => ({ title, numeric: false });
const number = (title: string): DataTable["columns"][number] => ({ title, numeric: true });

// "Conv (53), Gemm fc": largest first; of one operator its name.
export function placesText(each: StackFunction, table: OperatorTable | null): string {
  const names = new Map((table?.operators ?? []).map((operator) => [operator.op, operator.name]));
  return each.places
    .map(({ kind, op, operators }) => (kind === "" ? outsideName : op !== null ? `${kind} ${names.get(op) ?? ""}`.trim() : operators > 1 ? `${kind} (${operators})` : kind))
    .join(", ");
}

export function functionData(stacks: StackProfile, table: OperatorTable | null, subject: string): DataTable {
  const times = (each: StackFunction): Cell[] => (stacks.distorted ? [] : [each.self_s, each.low_s, each.high_s, each.total_s, each.helper_s]);
  return {
    columns: [text("subject"), text("function"), text("module"), number("own share"), ...(stacks.distorted ? [] : [number("own time, s"), number("low"), number("high"), number("with what it calls, s"), number("own on other threads, s")]), text("in operators")],
    rows: stacks.functions.map((each): Cell[] => [subject, functionName(each), each.module, each.share, ...times(each), placesText(each, table)]),
  };
}

// Every frame, with the way to it.
export function stackData(stacks: StackProfile, table: OperatorTable | null, subject: string): DataTable {
  const names = new Map((table?.operators ?? []).map((operator) => [operator.op, operator.name]));
  const ways = waysIn(stacks.tree, (node) => names.get(node.op ?? -1) ?? "(operator)", stacks.functions.map(functionName), subject);
  return {
    columns: [text("stack"), number("share"), ...(stacks.distorted ? [] : [number("time, s"), number("low"), number("high"), number("own, s")])],
    rows: stacks.tree.map((node, index): Cell[] => [ways[index] ?? "", node.mean_s / stacks.wall_s, ...(stacks.distorted ? [] : [node.mean_s, node.low_s, node.high_s, node.self_s])]),
  };
}

export function stackDifferenceData(stacks: StackDifference): DataTable {
  const ways = waysIn(stacks.tree, (node) => `group ${node.group ?? ""}`, stacks.functions.map(functionName), "inference");
  return {
    columns: [text("stack"), number("baseline, s"), number("subject, s"), number("difference, s"), number("low"), number("high"), text("separable")],
    rows: stacks.tree.map((node, index): Cell[] => [ways[index] ?? "", node.baseline_s, node.subject_s, node.mean_s, node.low_s, node.high_s, node.separable ? "yes" : "no"]),
  };
}

const longestWay = 2000; // characters

function waysIn<T extends StackProfile["tree"][number] | StackDifference["tree"][number]>(tree: readonly T[], operator: (node: T) => string, functions: readonly string[], whole: string): string[] {
  const ways: string[] = [];
  for (const node of tree) {
    const own = { whole, other_threads: `other threads of ${whole}`, kind: node.kind === "" || node.kind === undefined ? outsideName : node.kind, operator: operator(node), frame: functions[node.function ?? -1] ?? "", rest: notSampledName, merged: `(${node.merged ?? 0} small)` }[node.level];
    const way = node.parent === null ? own : `${ways[node.parent] ?? ""};${own}`;
    ways.push(way.length > longestWay ? `…${way.slice(way.length - longestWay)}` : way);
  }
  return ways;
}

export function stacksText(stacks: StackProfile | StackDifference | null): string {
  if (stacks === null) return "";
  const of = "pairs" in stacks ? `${stacks.pairs} pairs of processes` : `${stacks.processes} processes`;
  const shares = [stacks.tagged_share > 0 ? `${percent(stacks.tagged_share)} of them in an operator` : "", stacks.unnamed_share > 0 ? `${percent(stacks.unnamed_share)} in code without a name` : ""].filter((each) => each !== "");
  const distorted = "distorted" in stacks && stacks.distorted && stacks.clean_p50_s !== null && stacks.profiled_p50_s !== null;
  return sentences(
    `${whole(stacks.samples)} samples of ${of}${shares.length > 0 ? `, ${shares.join(", ")}` : ""}.`,
    stacks.detail === "" ? "" : `${visible(stacks.detail.slice(0, 500)).replace(/\.$/, "")}.`,
    distorted ? `Looking at it slowed it (p50 ${format("s", stacks.profiled_p50_s)}, ${format("s", stacks.clean_p50_s)} otherwise): widths and figures are shares, its times cannot be read.` : "",
    stacks.left_out > 0 ? `${whole(stacks.left_out)} profile trials could not be used.` : "",
  );
}
