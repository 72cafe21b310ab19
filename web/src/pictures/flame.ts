// Flame graphs: where the time of one subject goes, and where the difference between two comes from.
import type { Part, ProfileExplanation } from "../document.ts";
import { visible } from "../dom.ts";
import { count, format, percent } from "../format.ts";
import { readAddress, writeAddress } from "../flame/address.ts";
import { differenceFrames, groupName } from "../flame/difference_frames.ts";
import type { Side } from "../flame/difference_frames.ts";
import { FlameView } from "../flame/flame_view.ts";
import type { Shown } from "../flame/flame_view.ts";
import { smallLevel, viewOf } from "../flame/frames.ts";
import type { Frame, Mode } from "../flame/frames.ts";
import { profileFrames, restName } from "../flame/profile_frames.ts";
import type { DataTable, DrawnPicture, Picture } from "../picture.ts";
import { choice, distortedText, operatorData, tablesOf } from "./profiled.ts";
import { measured, sentences, uniqueNames } from "./trials.ts";

const keys = "Enter or a click zooms in, Esc out; arrows go from frame to frame.";

// What a picture is opened at, from the address: its choices, then the path to the frame.
interface Opened {
  choices: string[];
  path: string[];
}

// `id` is the part's; `choices`: of the controls, in their order.
function drawn(id: string, picture: Omit<DrawnPicture, "kind" | "tools" | "foot" | "height" | "draw" | "scene">, shown: () => Shown): DrawnPicture {
  const [address, controls] = [`${id}-${picture.id}`, picture.controls ?? []];
  const keep = (path: readonly string[]): void => writeAddress(address, path.length === 0 ? null : [...controls.map((control) => control.value), ...path]);
  const view = new FlameView(picture.title, shown, keep);
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
    height: (width) => view.height(width),
    draw: (box, look, width) => view.draw(box, look, width),
    scene: (look, width) => view.scene(look, width),
    watch: (figure, redraw) => {
      if (atFirst) window.requestAnimationFrame(() => figure.scrollIntoView());
      window.addEventListener("hashchange", () => {
        if (!open()) return;
        redraw();
        figure.scrollIntoView();
      });
    },
  };
}

function openedAt(address: string, choices: number): Opened | null {
  const state = readAddress(address);
  return state === null ? null : { choices: state.slice(0, choices), path: state.slice(choices) };
}

export function flame(part: Part, id: string): Picture[] {
  const [m, profile] = [measured(part), part.run?.profile ?? null];
  if (m === null || profile === null) return [];
  const subjects = tablesOf(profile).map((each) => ({ ...each, label: m.names[each.subject] ?? "", frames: null as Frame | null }));
  const [first] = subjects;
  if (first === undefined) return [];
  let chosen = first;
  const frames = (): Frame => (chosen.frames ??= profileFrames(chosen.table, chosen.label));
  const time = (seconds: number): string => (chosen.table.distorted ? percent(seconds / chosen.table.wall_s) : format("s", seconds));
  return [
    drawn(
      id,
      {
        id: "flame",
        title: "Where the time of an inference goes",
        reads: `A frame is as wide as its mean time per inference: the model, its kinds of operators, the operators, their kernels. ${keys}`,
        note: () => sentences(distortedText(chosen.table), restText(chosen.table.rest.mean_s, "Operators"), smallText(frames(), "a")),
        controls: subjects.length > 1 ? [choice("Subject", subjects.map(({ label }, index) => [String(index), label]), (value) => (chosen = subjects[Number(value)] ?? first))] : [],
        data: () => operatorData(chosen.table, chosen.label),
      },
      () => ({ root: frames(), mode: "a", whole: 0, time }),
    ),
  ];
}

function restText(rest: number, who: string): string {
  return rest < 0 ? `${who} overlap by ${format("s", -rest)} per inference: ${restName} is negative and has no frame.` : "";
}

function smallText(root: Frame, mode: Mode): string {
  const small = viewOf(root, [], mode).placed.filter(({ frame }) => frame.level === smallLevel).reduce((sum, { frame }) => sum + frame.children.length, 0);
  return small === 0 ? "" : `${count(small, "frame", "frames")} below 0.1 % of the whole are drawn together as small ones: zooming into what encloses them tells them apart.`;
}

interface Explained {
  why: ProfileExplanation;
  names: [string, string];
  root: Frame;
  sides: [Side, Side];
}

export function flameDifference(part: Part, id: string): Picture[] {
  const [m, profile] = [measured(part), part.run?.profile ?? null];
  if (m === null || profile === null) return [];
  const explained = profile.explanations.filter((why) => why.groups.length > 0).map((why): Explained => {
    const side = (subject: number): Side => ({ label: m.names[subject] ?? "", table: profile.subjects.find((each) => each.subject === subject)?.table ?? null });
    const sides: [Side, Side] = [side(why.baseline), side(why.subject)];
    return { why, sides, names: [sides[0].label, sides[1].label], root: differenceFrames(why, sides[0], sides[1]) };
  });
  const [first] = explained;
  if (first === undefined) return [];
  let [chosen, mode, common]: [Explained, Mode, boolean] = [first, "difference", true];
  const titles = uniqueNames(explained.map(({ names: [baseline, subject] }) => `${subject} against ${baseline}`));
  const modes = (): [string, string][] => [["difference", "Difference"], ["a", "A, the baseline"], ["b", "B, the subject"]];
  const controls = [
    ...(explained.length > 1 ? [choice("Compare", titles.map((title, index) => [String(index), title]), (value) => (chosen = explained[Number(value)] ?? first))] : []),
    choice("Show", modes(), (value) => (mode = value as Mode)),
    choice("Scale", [["common", "The same for A and B"], ["own", "Each fills the width"]], (value) => (common = value === "common")),
  ];
  const whole = (): number => (common && mode !== "difference" ? Math.max(chosen.root.widths.a, chosen.root.widths.b) : 0);
  return [
    drawn(
      id,
      {
        id: "flame-difference",
        title: explained.length > 1 ? "Where the difference comes from" : `Where the difference comes from: ${titles[0] ?? ""}`,
        reads:
          "A frame is as wide as its larger side, so that what one of the two lacks stays in sight; its colour and its strip say how much slower or faster it is. " +
          `A is ${explained.length > 1 ? "the baseline" : visible(first.names[0])}, B ${explained.length > 1 ? "the subject" : visible(first.names[1])}; the differences of all frames of a row add up to the whole. ${keys}`,
        note: () => sentences(restText(Math.min(0, ...chosen.why.groups.filter((group) => group.kind === restName).map((group) => Math.min(group.baseline_s, group.subject_s))), "Operators of one of the two"), smallText(chosen.root, mode)),
        controls,
        data: () => differenceData(chosen),
      },
      () => ({ root: chosen.root, mode, whole: whole(), time: (seconds) => format("s", seconds) }),
    ),
  ];
}

function differenceData({ why, sides }: Explained): DataTable {
  const text = (title: string): DataTable["columns"][number] => ({ title, numeric: false });
  const number = (title: string): DataTable["columns"][number] => ({ title, numeric: true });
  const operators = sides.map((side) => new Map((side.table?.operators ?? []).map((operator) => [operator.op, operator])));
  const told = (side: number, which: number[], what: "name" | "kernel"): string => which.map((op) => operators[side]?.get(op)?.[what] ?? "").join(", ");
  return {
    columns: [
      text("kind"), text("group"), number("baseline, s"), number("subject, s"), number("difference, s"), number("low"), number("high"), number("p"), text("separable"),
      text("operators of the baseline"), text("operators of the subject"), text("kernels of the baseline"), text("kernels of the subject"), text("nodes"),
    ],
    rows: why.groups.map((group) => [
      group.kind, groupName(group, [operators[0] ?? new Map(), operators[1] ?? new Map()]), group.baseline_s, group.subject_s, group.mean_s, group.low_s, group.high_s, group.p, group.separable ? "yes" : "no",
      told(0, group.in_baseline, "name"), told(1, group.in_subject, "name"), told(0, group.in_baseline, "kernel"), told(1, group.in_subject, "kernel"), group.nodes.join(", "),
    ]),
  };
}
