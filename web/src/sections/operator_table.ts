// The operators of a subject as a table, with what no operator explains as a row of it, and what it was made from.
import type { OperatorTable, OperatorTime, ProfiledOperator, Run, SubjectProfile } from "../document.ts";
import { el, name, visible } from "../dom.ts";
import type { Child } from "../dom.ts";
import type { Links } from "../flame/links.ts";
import { restName } from "../flame/profile_frames.ts";
import { count, digits, format, percent } from "../format.ts";
import { nodesText, rules } from "../pictures/operator_words.ts";
import { uniqueNames } from "../pictures/trials.ts";
import { badge, sign } from "../signs.ts";
import { Grid } from "./grid.ts";
import type { Column, Grouping } from "./grid_model.ts";

export interface OperatorRow {
  time: OperatorTime;
  operator: ProfiledOperator | null; // null: the rest
}

export function operatorTables(run: Run, links: Links): HTMLElement | null {
  const subjects = (run.profile?.subjects ?? []).filter((each) => each.asked > 0);
  const [first] = subjects;
  if (first === undefined) return null;
  const names = uniqueNames(run.subjects.map((subject) => subject.label));
  const place = el("div", { class: "stack" });
  let [shown, table]: [SubjectProfile, Grid<OperatorRow> | null] = [first, null];
  const show = (profile: SubjectProfile): void => {
    shown = profile;
    table = profile.table === null ? null : gridOf(profile, profile.table, names[profile.subject] ?? "", links);
    place.replaceChildren(...(table === null ? [] : [table.element]), ...remarks(profile, names[profile.subject] ?? ""));
  };
  show(first);
  const select = el("select", { onchange: () => show(subjects[Number(select.value)] ?? first) });
  links.row = (subject, op) => {
    const at = subjects.findIndex((each) => each.subject === subject);
    if (subjects[at] !== undefined && shown !== subjects[at]) {
      select.value = String(at);
      show(subjects[at]);
    }
    table?.reveal((row) => row.operator?.op === op);
  };
  if (subjects.length === 1) return place;
  subjects.forEach((each, index) => select.append(el("option", { value: index }, names[each.subject] ?? "")));
  return el("div", { class: "stack" }, el("div", { class: "controls" }, el("label", {}, "Operators of ", select)), place);
}

function gridOf(profile: SubjectProfile, table: OperatorTable, label: string, links: Links): Grid<OperatorRow> {
  return new Grid({
    caption: `Operators of ${label}`,
    columns: columns(table),
    rows: operatorRows(table),
    off: new Set(["layout", "provider", "flops", "activation_bytes", "parameter_bytes", "output_bytes", "arena_in_use_bytes", "arena_peak_bytes"]),
    groupings: groupings(table),
    legend: legendOf(table, profile),
    leads: ({ operator }) => (operator === null || table.graph.reason !== "" ? null : { text: "In the graph", act: () => links.node?.(profile.subject, operator.op) }),
  });
}

export function operatorRows(table: OperatorTable): OperatorRow[] {
  return [...table.operators.map((operator) => ({ time: operator, operator })), { time: table.rest, operator: null }];
}

function legendOf(table: OperatorTable, profile: SubjectProfile): string {
  const of = count(profile.processes, "process", "processes");
  return table.distorted
    ? `Mean shares over ${of}; they and ${restName} add up to an inference.`
    : `Mean times over ${of}${profile.processes > 1 ? ", with 95 % intervals" : ""}; they and ${restName} add up to ${format("s", table.wall_s, 4)}, a profiled inference.`;
}

function groupings(table: OperatorTable): Grouping<OperatorRow>[] {
  const sum = (rows: OperatorRow[]): string => {
    const share = percent(rows.reduce((all, row) => all + row.time.share, 0));
    return table.distorted ? share : `${format("s", rows.reduce((all, row) => all + row.time.mean_s, 0))}, ${share}`;
  };
  const by = (id: string, of: (operator: ProfiledOperator) => string): Grouping<OperatorRow> => ({ id, label: id, sum, key: (row) => (row.operator === null ? restName : of(row.operator) === "" ? "not reported" : of(row.operator)) });
  return [by("kind", (operator) => operator.kind), by("kernel", (operator) => operator.kernel), by("precision", (operator) => operator.precision)];
}

function columns(table: OperatorTable): Column<OperatorRow>[] {
  const text = (id: string, title: string, of: (operator: ProfiledOperator) => string, about?: string): Column<OperatorRow> => ({
    kind: "text", id, title, text: ({ operator }) => (operator === null ? "" : of(operator)), ...(about === undefined ? {} : { about }),
  });
  const bytes = (id: "moved_bytes" | "activation_bytes" | "parameter_bytes" | "output_bytes" | "arena_in_use_bytes" | "arena_peak_bytes", title: string, about: string): Column<OperatorRow> => ({
    kind: "number", id, title, quantity: "bytes", about, measure: ({ operator }) => ({ value: operator?.[id] ?? null }),
  });
  const time: Column<OperatorRow> = {
    kind: "number", id: "time", title: "time", quantity: "s", about: "Mean per inference, and its 95 % interval over processes.",
    measure: ({ time: { mean_s: value, low_s: low, high_s: high } }) => ({ value, interval: low === null || high === null ? null : { low, high } }),
  };
  const helpers: Column<OperatorRow> = {
    kind: "number", id: "helpers", title: "other threads", quantity: "s", about: "Time on all other threads, which is in no sum.", measure: ({ time: { helper_s: value } }) => ({ value: value > 0 ? value : null }),
  };
  const roof: Column<OperatorRow> = {
    kind: "number", id: "roof", title: "of the roof", quantity: "share", about: "The least time in which this machine can do its operations and move its bytes, per time taken; and which of the two limits it.",
    measure: ({ operator }) => ({ value: operator?.roofline?.fraction ?? null, sub: operator?.roofline?.bound ?? "" }),
  };
  return [
    { kind: "text", id: "name", title: "operator", text: ({ operator }) => operator?.name ?? restName },
    ...(table.distorted ? [] : [time]),
    { kind: "number", id: "share", title: "share", quantity: "share", about: "Of an inference.", measure: ({ time: { share } }) => ({ value: share }) },
    text("kind", "kind", (operator) => operator.kind),
    ...(table.distorted ? [] : [roof]),
    text("kernel", "kernel", (operator) => operator.kernel, "The implementation that the runtime chose."),
    text("precision", "precision", (operator) => operator.precision, "As executed."),
    text("layout", "layout", (operator) => operator.layout),
    { ...text("shapes", "shapes", (operator) => operator.shapes), long: true } as Column<OperatorRow>,
    {
      kind: "text", id: "nodes", title: "nodes", long: true, about: "Nodes of the model that it executes, and how they were found.",
      text: ({ operator }) => (operator === null ? "" : nodesText(operator.nodes)), sub: ({ operator }) => (operator === null ? "" : rules.get(operator.rule) ?? operator.rule),
    },
    { kind: "number", id: "calls", title: "calls", quantity: "count", about: "Per inference.", show: (value) => (Number.isInteger(value) ? String(value) : digits(value)), measure: ({ time: { calls }, operator }) => ({ value: operator === null ? null : calls }) },
    ...(table.distorted || table.operators.every((operator) => !(operator.helper_s > 0)) ? [] : [helpers]),
    bytes("moved_bytes", "moves", "Inputs, weights and outputs, each once, in the executed precision."),
    { kind: "number", id: "flops", title: "operations", quantity: "plain", about: "Floating-point operations of its nodes.", measure: ({ operator }) => ({ value: operator?.flops ?? null }) },
    text("provider", "provider", (operator) => operator.provider),
    bytes("activation_bytes", "activations", "Bytes of its inputs, as reported by the runtime."),
    bytes("parameter_bytes", "parameters", "Bytes of its weights, as reported by the runtime."),
    bytes("output_bytes", "outputs", "Bytes of its outputs, as reported by the runtime."),
    bytes("arena_in_use_bytes", "arena in use", "What the runtime's arena had in use when it had ended."),
    bytes("arena_peak_bytes", "arena peak", "Most bytes that the runtime's arena held up to then."),
  ];
}

// What to mind about it, and what it was made from.
function remarks(profile: SubjectProfile, label: string): HTMLElement[] {
  const { table } = profile;
  if (table === null) return [el("p", {}, badge("no profile", "warning"), " None of the ", count(profile.asked, "profile trial", "profile trials"), " of ", name(label), " has times of operators.")];
  const lines: HTMLElement[] = [];
  const say = (tone: Parameters<typeof sign>[0], ...content: Child[]): void => void lines.push(el("li", {}, sign(tone), el("span", {}, ...content)));
  const p50 = table.profiled_p50_s === null || table.clean_p50_s === null ? "" : `p50 ${format("s", table.profiled_p50_s)} with profiling, ${format("s", table.clean_p50_s)} without`;
  if (table.distorted) say("warning", `Profiling slowed it by more than 5 % (${p50}): its times are not those of the timed runs, and only shares are shown.`);
  else if (p50 !== "") say("plain", `What profiling cost: ${p50}.`);
  if (profile.left_out > 0) say("warning", `${count(profile.left_out, "process", "processes")} had other operators, and are left out.`);
  for (const source of table.sources) {
    if (source.available && source.detail === "") continue;
    say(source.available ? "plain" : "faint", source.available ? "" : "no ", name(source.name), ": ", name(source.detail));
  }
  if (table.graph.reason !== "") say("faint", "No graph: ", name(table.graph.reason));
  if (table.distorted) return listOf(lines);
  if (table.roofline.reason !== "") say("faint", "No roofline: ", name(visible(table.roofline.reason)));
  else if (table.roofline.whole_fraction !== null) say("plain", `The whole model runs at ${percent(table.roofline.whole_fraction)} of what this machine can do (${digits(table.roofline.whole_flops / 1e9)} GFLOP).`);
  return listOf(lines);
}

function listOf(lines: HTMLElement[]): HTMLElement[] {
  return lines.length === 0 ? [] : [el("ul", { class: "said-list" }, ...lines)];
}
