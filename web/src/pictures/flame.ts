// Flame graphs: where the time of one subject goes, and where the difference between two comes from.
import type { OperatorTable, Part, ProfileExplanation, StackDifference, StackProfile } from "../document.ts";
import { visible } from "../dom.ts";
import { choose, chosenFor, onAddress } from "../state.ts";
import { count, format, percent } from "../format.ts";
import { differenceFrames, groupName } from "../flame/difference_frames.ts";
import type { Side } from "../flame/difference_frames.ts";
import { FlameView } from "../flame/flame_view.ts";
import type { Shown, Ways } from "../flame/flame_view.ts";
import { smallLevel, viewOf } from "../flame/frames.ts";
import type { Frame, Mode } from "../flame/frames.ts";
import type { Links } from "../flame/links.ts";
import { profileFrames, restName } from "../flame/profile_frames.ts";
import { rootOf, stackDifferenceFrames, stackFrames, stacksName } from "../flame/stack_frames.ts";
import type { Control, DataTable, DrawnPicture, Picture } from "../picture.ts";
import { choice, distortedText, operatorData } from "./profiled.ts";
import { stackData, stackDifferenceData, stacksText } from "./stack_data.ts";
import { measured, sentences, uniqueNames } from "./trials.ts";

const keys = "Enter or a click zooms in, Esc out; arrows go from frame to frame.";

// What a picture is opened at, from the address: its choices, then the path to the frame.
interface Opened {
  choices: string[];
  path: string[];
}

type Described = Omit<DrawnPicture, "kind" | "tools" | "foot" | "height" | "draw" | "scene">;

// `id` is the part's; `choices`: of the controls, in their order. `watched`: there is a figure now.
function drawn(id: string, picture: Described, shown: () => Shown, ways: Ways = {}, watched: (view: FlameView, figure: HTMLElement, redraw: () => void) => void = () => undefined): DrawnPicture {
  const [address, controls] = [`${id}-${picture.id}`, picture.controls ?? []];
  const keep = (path: readonly string[]): void => choose(address, path.length === 0 ? null : [...controls.map((control) => control.value), ...path].join("/"));
  const view = new FlameView(picture.title, shown, keep, ways);
  const open = (): boolean => {
    const opened = openedAt(address, controls.length);
    if (opened === null) return false;
    controls.forEach((control, index) => {
      const value = opened.choices[index] ?? "";
      if (!control.choices.some((choice) => choice.value === value)) return;
      control.value = value;
      control.change(value);
    });
    view.open(opened.path);
    return true;
  };
  const atFirst = open();
  for (const control of controls) {
    const { change } = control;
    // Another side has the same frames; another subject has others.
    control.change = (value) => {
      change(value);
      if (control.label !== "Show" && control.label !== "Scale") view.open([]);
      keep(view.path);
    };
  }
  return {
    ...picture,
    kind: "drawn",
    tools: view.tools,
    foot: view.more,
    prepare: () => view.prepare(),
    height: (width) => view.height(width),
    draw: (box, look, width) => view.draw(box, look, width),
    scene: (look, width) => view.scene(look, width),
    watch: (figure, redraw) => {
      watched(view, figure, redraw);
      if (atFirst) window.requestAnimationFrame(() => figure.scrollIntoView());
      onAddress(() => {
        if (!open()) return;
        redraw();
        figure.scrollIntoView();
      });
    },
  };
}

function openedAt(address: string, choices: number): Opened | null {
  const state = chosenFor(address)?.split("/") ?? null;
  return state === null ? null : { choices: state.slice(0, choices), path: state.slice(choices) };
}

// One subject's profile, and what its frames are made of.
interface Profiled {
  subject: number;
  label: string;
  table: OperatorTable | null;
  stacks: StackProfile[];
}

type Threads = "whole" | "other_threads";
const operatorsView = "operators";

// Operators, and each method that saw stacks of any subject. Their values are our own: methods are text from outside.
function viewChoices(stacks: readonly Pick<StackProfile, "method" | "is_python">[], withOperators: boolean): { value: string; label: string; method: string }[] {
  const methods = [...new Map(stacks.map((each) => [each.method, visible(stacksName(each))]))];
  return [...(withOperators ? [{ value: operatorsView, label: "Operators", method: "" }] : []), ...methods.map(([method, label], index) => ({ value: `stacks-${index}`, label, method }))];
}

export function flame(part: Part, id: string, links: Links): Picture[] {
  const [m, profile] = [measured(part), part.run?.profile ?? null];
  if (m === null || profile === null) return [];
  const subjects = profile.subjects.map(({ subject, table, stacks }): Profiled => ({ subject, table, stacks: stacks ?? [], label: m.names[subject] ?? "" })).filter(({ table, stacks }) => table !== null || stacks.length > 0);
  const [first] = subjects;
  if (first === undefined) return [];
  const views = viewChoices(subjects.flatMap(({ stacks }) => stacks), subjects.some(({ table }) => table !== null));
  let [chosen, view, threads]: [Profiled, string, Threads] = [first, views[0]?.value ?? "", "whole"];
  const trees = new Map<string, Frame>();
  // What the chosen subject has of the chosen view, else what it has.
  const stacksShown = (): StackProfile | null => {
    const method = views.find(({ value }) => value === view)?.method ?? "";
    return chosen.stacks.find((each) => each.method === method) ?? (chosen.table === null ? chosen.stacks[0] ?? null : null);
  };
  const threadsOf = (stacks: StackProfile): Threads => (rootOf(stacks.tree, threads) >= 0 ? threads : "whole");
  const frames = (): Frame => {
    const stacks = stacksShown();
    const key = `${chosen.subject} ${stacks === null ? operatorsView : `${threadsOf(stacks)} ${stacks.method}`}`;
    const made = trees.get(key) ?? (stacks !== null ? stackFrames(stacks, chosen.table, chosen.label, threadsOf(stacks)) : profileFrames(chosen.table as OperatorTable, chosen.label));
    trees.set(key, made);
    return made;
  };
  const time = (seconds: number): string => {
    const of = stacksShown() ?? chosen.table;
    return of?.distorted === true ? percent(seconds / of.wall_s) : format("s", seconds);
  };
  const rest = (): string => (stacksShown() === null && chosen.table !== null ? sentences(distortedText(chosen.table), restText(chosen.table.rest.mean_s, "Operators")) : stacksText(stacksShown()));
  const fallsBack = (): string => {
    const asked = views.find(({ value }) => value === view);
    const shown = stacksShown()?.method ?? "";
    return asked === undefined || asked.method === shown ? "" : `There are no ${asked.label} of ${visible(chosen.label)}.`;
  };
  const anyOthers = subjects.some(({ stacks }) => stacks.some(({ tree }) => rootOf(tree, "other_threads") >= 0));
  const controls: Control[] = [
    ...(subjects.length > 1 ? [choice("Subject", subjects.map(({ label }, index) => [String(index), label]), (value) => (chosen = subjects[Number(value)] ?? first))] : []),
    ...(views.length > 1 ? [choice("Frames", views.map(({ value, label }) => [value, label]), (value) => (view = value))] : []),
    ...(anyOthers ? [choice("Threads", [["whole", "Calling thread"], ["other_threads", "Other threads"]], (value) => (threads = value as Threads))] : []),
  ];
  return [
    drawn(
      id,
      {
        id: "flame",
        short: "Where the time goes",
        title: "Where the time of an inference goes",
        reads: `A frame is as wide as its mean time per inference: the model, its kinds of operators, the operators, ${views.some(({ method }) => method !== "") ? "and their kernels or the functions that call each other" : "their kernels"}. ${keys}`,
        note: () => sentences(fallsBack(), rest(), smallText(frames(), "a")),
        controls,
        data: () => {
          const stacks = stacksShown();
          return stacks !== null ? stackData(stacks, chosen.table, chosen.label) : operatorData(chosen.table as OperatorTable, chosen.label);
        },
      },
      () => ({ root: frames(), mode: "a", whole: 0, time }),
      {
        act: (frame) => {
          const [stacks, of] = [stacksShown(), frame.function];
          return stacks === null || of === undefined || links.function === null ? null : { text: "Callers and callees", act: () => links.function?.(chosen.subject, stacks.method, of) };
        },
      },
    ),
  ];
}

function restText(rest: number, who: string): string {
  return rest < 0 ? `${who} overlap by ${format("s", -rest)} per inference: ${restName} is negative and has no frame.` : "";
}

function smallText(root: Frame, mode: Mode): string {
  const small = viewOf(root, [], mode).placed.filter(({ frame }) => frame.level === smallLevel).reduce((sum, { frame }) => sum + frame.children.length, 0);
  return small === 0 ? "" : `${count(small, "frame", "frames")} below 0.1 % of the whole are drawn as one: zoom into their parent to see them.`;
}

interface Explained {
  why: ProfileExplanation;
  index: number; // of the document's
  names: [string, string];
  root: Frame;
  sides: [Side, Side];
}

export function flameDifference(part: Part, id: string, links: Links): Picture[] {
  const [m, profile] = [measured(part), part.run?.profile ?? null];
  if (m === null || profile === null) return [];
  const explained = profile.explanations.flatMap((why, index): Explained[] => {
    if (why.groups.length === 0) return [];
    const side = (subject: number): Side => ({ label: m.names[subject] ?? "", table: profile.subjects.find((each) => each.subject === subject)?.table ?? null });
    const sides: [Side, Side] = [side(why.baseline), side(why.subject)];
    return [{ why, index, sides, names: [sides[0].label, sides[1].label], root: differenceFrames(why, sides[0], sides[1]) }];
  });
  const [first] = explained;
  if (first === undefined) return [];
  let [chosen, mode, common]: [Explained, Mode, boolean] = [first, "difference", true];
  const views = viewChoices(explained.flatMap(({ why }) => why.stacks ?? []), true);
  let view = operatorsView;
  const stacksShown = (): StackDifference | null => chosen.why.stacks?.find(({ method }) => method === views.find(({ value }) => value === view)?.method) ?? null;
  const trees = new Map<StackDifference, Frame>();
  const root = (): Frame => {
    const stacks = stacksShown();
    if (stacks === null) return chosen.root;
    const made = trees.get(stacks) ?? stackDifferenceTree(stacks, chosen);
    trees.set(stacks, made);
    return made;
  };
  const titles = uniqueNames(explained.map(({ names: [baseline, subject] }) => `${subject} against ${baseline}`));
  const modes = (): [string, string][] => [["difference", "Difference"], ["a", "A, the baseline"], ["b", "B, the subject"]];
  const controls = [
    ...(explained.length > 1 ? [choice("Compare", titles.map((title, index) => [String(index), title]), (value) => (chosen = explained[Number(value)] ?? first))] : []),
    choice("Show", modes(), (value) => (mode = value as Mode)),
    choice("Scale", [["common", "The same for A and B"], ["own", "Each fills the width"]], (value) => (common = value === "common")),
    ...(views.length > 1 ? [choice("Frames", views.map(({ value, label }) => [value, label]), (value) => (view = value))] : []),
  ];
  const whole = (): number => (common && mode !== "difference" ? Math.max(root().widths.a, root().widths.b) : 0);
  const negative = (): number => Math.min(0, ...chosen.why.groups.filter((group) => group.kind === restName).map((group) => Math.min(group.baseline_s, group.subject_s)));
  const restOf = (): string => (stacksShown() === null ? restText(negative(), "Operators of one of the two") : stacksText(stacksShown()));
  return [
    drawn(
      id,
      {
        id: "flame-difference",
        short: "Where the difference comes from",
        title: explained.length > 1 ? "Where the difference comes from" : `Where the difference comes from: ${titles[0] ?? ""}`,
        reads:
          "A frame is as wide as its larger side, so that what one of the two lacks stays in sight; its colour and its strip say how much slower or faster it is. " +
          `A is ${explained.length > 1 ? "the baseline" : visible(first.names[0])}, B ${explained.length > 1 ? "the subject" : visible(first.names[1])}; the differences of all frames of a row add up to the whole. ${keys}`,
        note: () => sentences(restOf(), smallText(root(), mode)),
        controls,
        data: () => {
          const stacks = stacksShown();
          return stacks === null ? differenceData(chosen) : stackDifferenceData(stacks);
        },
      },
      () => ({ root: root(), mode, whole: whole(), time: (seconds) => format("s", seconds) }),
      {},
      (flameView, figure, redraw) => {
        links.clause = (explanation, clause) => showClause(explanation, clause, flameView, figure, redraw);
        const [explanation, clause] = (chosenFor(`${id}.clause`) ?? "").split("-").map(Number);
        if (explanation !== undefined && clause !== undefined) window.requestAnimationFrame(() => links.clause?.(explanation, clause));
      },
    ),
  ];

  // All of the difference, with what the clause is about as if it had been searched for.
  function showClause(explanation: number, clause: number, flameView: FlameView, figure: HTMLElement, redraw: () => void): void {
    const at = explained.findIndex(({ index }) => index === explanation);
    const named = explained[at]?.why.clauses[clause];
    if (named === undefined) return;
    for (const control of controls) {
      const value = control.label === "Compare" ? String(at) : control.label === "Show" ? "difference" : control.value;
      control.value = value;
      control.change(value);
    }
    flameView.open([]);
    choose(`${id}-flame-difference`, null);
    redraw();
    const groups = new Set(named.groups);
    choose(`${id}.clause`, `${explanation}-${clause}`);
    flameView.pick({ label: named.sentence, cleared: () => choose(`${id}.clause`, null), has: (frame) => frame.group !== undefined && groups.has(frame.group) });
    flameView.reveal(figure);
  }
}

function stackDifferenceTree(stacks: StackDifference, { why, sides, names }: Explained): Frame {
  const operators = sides.map((side) => new Map((side.table?.operators ?? []).map((operator) => [operator.op, operator])));
  const group = (index: number): string => {
    const of = why.groups[index];
    return of === undefined ? "" : groupName(of, [operators[0] ?? new Map(), operators[1] ?? new Map()]);
  };
  return stackDifferenceFrames(stacks, { baseline: names[0], subject: names[1], group }, why.groups, "whole");
}

function differenceData({ why, sides }: Explained): DataTable {
  const text = (title: string): DataTable["columns"][number] => ({ title, numeric: false });
  const number = (title: string): DataTable["columns"][number] => ({ title, numeric: true });
  const operators = sides.map((side) => new Map((side.table?.operators ?? []).map((operator) => [operator.op, operator])));
  const namesOf = (side: number, which: number[], what: "name" | "kernel"): string => which.map((op) => operators[side]?.get(op)?.[what] ?? "").join(", ");
  return {
    columns: [
      text("kind"), text("group"), number("baseline, s"), number("subject, s"), number("difference, s"), number("low"), number("high"), number("p"), text("separable"),
      text("operators of the baseline"), text("operators of the subject"), text("kernels of the baseline"), text("kernels of the subject"), text("nodes"),
    ],
    rows: why.groups.map((group) => [
      group.kind, groupName(group, [operators[0] ?? new Map(), operators[1] ?? new Map()]), group.baseline_s, group.subject_s, group.mean_s, group.low_s, group.high_s, group.p, group.separable ? "yes" : "no",
      namesOf(0, group.in_baseline, "name"), namesOf(1, group.in_subject, "name"), namesOf(0, group.in_baseline, "kernel"), namesOf(1, group.in_subject, "kernel"), group.nodes.join(", "),
    ]),
  };
}
