// One function of the sampled call stacks between those that call it, above, and those that it calls, below.
import type { OperatorTable, Part, StackProfile } from "../document.ts";
import { el, shortened, visible } from "../dom.ts";
import { FlameView } from "../flame/flame_view.ts";
import type { Shown } from "../flame/flame_view.ts";
import type { Frame } from "../flame/frames.ts";
import type { Links } from "../flame/links.ts";
import { sandwichFrames } from "../flame/sandwich_frames.ts";
import type { Sandwich } from "../flame/sandwich_frames.ts";
import { functionName, stacksName } from "../flame/stack_frames.ts";
import type { Scene } from "../flame/scene.ts";
import { format, percent } from "../format.ts";
import type { Look } from "../look.ts";
import type { Control, DrawnPicture, Picture } from "../picture.ts";
import { choose, chosenFor } from "../state.ts";
import { choice } from "./profiled.ts";
import { functionData } from "./stack_data.ts";
import { measured, sentences } from "./trials.ts";

interface Source {
  subject: number;
  label: string;
  table: OperatorTable | null;
  stacks: StackProfile;
}

const listed = 300; // functions that can be chosen, those with most time of their own

class SandwichView {
  readonly more = el("p", { class: "more-of-it" });
  readonly tools: HTMLElement;
  private readonly select = el("select", { onchange: () => this.show(Number(this.select.value)) });
  private readonly callers: FlameView;
  private readonly callees: FlameView;
  private readonly boxes: [HTMLElement, HTMLElement] = [el("div", {}), el("div", {})];
  private of = 0;
  private frames: Sandwich | null = null;
  redraw: () => void = () => undefined;

  constructor(
    private readonly title: string,
    private readonly address: string,
    private source: Source,
  ) {
    const act = (frame: Frame): { text: string; act(): void } | null => {
      const { function: of } = frame;
      return of === undefined || of === this.of ? null : { text: "Callers and callees", act: () => this.show(of) };
    };
    const part = (of: "callers" | "callees"): FlameView => new FlameView(`${of === "callers" ? "Callers" : "Callees"}`, () => this.shown(of), () => undefined, { upward: of === "callers", more: this.more, act });
    [this.callers, this.callees] = [part("callers"), part("callees")];
    this.tools = el("div", { class: "flame-tools" }, el("div", { class: "controls" }, el("label", {}, "Function ", this.select)), el("div", { class: "controls" }, "Called by", this.callers.zoomed, "Calls", this.callees.zoomed));
    const of = Number(chosenFor(address) ?? "0");
    this.choose(source, source.stacks.functions[of] === undefined ? 0 : of);
  }

  // The hottest one at first.
  choose(source: Source, of = 0): void {
    this.source = source;
    this.select.replaceChildren(...source.stacks.functions.slice(0, listed).map((each, index) => el("option", { value: index }, visible(`${shortened(functionName(each), 70)}, ${percent(each.share)}`))));
    this.take(of);
  }

  private take(of: number): void {
    this.of = of;
    this.frames = null;
    if (of >= this.select.options.length) {
      const each = this.source.stacks.functions[of];
      this.select.append(el("option", { value: of }, visible(shortened(functionName(each), 70))));
    }
    this.select.value = String(of);
    this.callers.open([]);
    this.callees.open([]);
  }

  show(of: number): void {
    this.take(of);
    choose(this.address, of === 0 ? null : String(of));
    this.redraw();
    this.select.focus();
  }

  private both(): Sandwich {
    return (this.frames ??= sandwichFrames(this.source.stacks, this.source.table, this.source.label, this.of));
  }

  private shown(of: "callers" | "callees"): Shown {
    const { stacks } = this.source;
    return { root: this.both()[of], mode: "a", whole: 0, time: (seconds) => (stacks.distorted ? percent(seconds / stacks.wall_s) : format("s", seconds)) };
  }

  note(): string {
    const each = this.source.stacks.functions[this.of];
    const seen = this.both().callees.values.a;
    if (each === undefined) return "";
    return sentences(
      each.self_s > 0 ? `${percent(each.self_s / this.source.stacks.wall_s)} of an inference is its own time.` : "",
      seen < 0.99 * each.total_s ? `${percent(seen / each.total_s)} of its time is drawn: the rest lies in frames that are too small.` : "",
    );
  }

  prepare(): void {
    this.callees.prepare();
    this.callers.prepare();
  }

  height(width: number): number {
    return this.callers.height(width) + this.callees.height(width) + 2 * headHeight;
  }

  draw(box: HTMLElement, look: Look, width: number): void {
    const head = (text: string): HTMLElement => el("p", { class: "sandwich-head" }, text);
    box.replaceChildren(head("Called by"), this.boxes[0], head("Calls"), this.boxes[1]);
    this.callees.draw(this.boxes[1], look, width);
    this.callers.draw(this.boxes[0], look, width);
  }

  scene(look: Look, width: number): Scene {
    const [above, below] = [this.callers.scene(look, width), this.callees.scene(look, width)];
    const title = { x: 7, y: 4, width: 0, height: 24, fill: "none", text: `${this.title}: ${functionName(this.source.stacks.functions[this.of]).slice(0, 300)}`, textColor: look.text };
    const lower = (scene: Scene, by: number): Scene["boxes"] => scene.boxes.map((each) => ({ ...each, y: each.y + by }));
    return { width, height: 30 + above.height + below.height, boxes: [title, ...lower(above, 30), ...lower(below, 30 + above.height)] };
  }

  data(): ReturnType<typeof functionData> {
    return functionData(this.source.stacks, this.source.table, this.source.label);
  }
}

const headHeight = 26; // pixels, as the style sheet has it

export function sandwich(part: Part, id: string, links: Links): Picture[] {
  const [m, profile] = [measured(part), part.run?.profile ?? null];
  if (m === null || profile === null) return [];
  const sources = profile.subjects.flatMap(({ subject, table, stacks }) => (stacks ?? []).filter(({ functions }) => functions.length > 0).map((each): Source => ({ subject, table, stacks: each, label: m.names[subject] ?? "" })));
  const [first] = sources;
  if (first === undefined) return [];
  const title = "Who calls a function, and what it calls";
  const view = new SandwichView(title, `${id}-sandwich.f`, first);
  const several = profile.subjects.length > 1;
  const of: Control[] =
    sources.length > 1 ? [choice("Stacks", sources.map(({ label, stacks }, index) => [String(index), several ? `${visible(label)}: ${visible(stacksName(stacks))}` : visible(stacksName(stacks))]), (value) => view.choose(sources[Number(value)] ?? first))] : [];
  const picture: DrawnPicture = {
    id: "sandwich",
    short: "Callers and callees",
    kind: "drawn",
    title,
    reads: "Upwards the functions and operators that it was called from, downwards what it calls; a frame is as wide as the time that it is about. Enter or a click zooms in, Esc out; arrows go from frame to frame.",
    note: () => view.note(),
    controls: of,
    tools: view.tools,
    foot: view.more,
    data: () => view.data(),
    prepare: () => view.prepare(),
    height: (width) => view.height(width),
    draw: (box, look, width) => view.draw(box, look, width),
    scene: (look, width) => view.scene(look, width),
    watch: (figure, redraw) => {
      view.redraw = redraw;
      links.function = (subject, method, wanted) => {
        const index = sources.findIndex((each) => each.subject === subject && each.stacks.method === method);
        const source = sources[index];
        if (source === undefined) return;
        for (const control of of) control.value = String(index);
        view.choose(source);
        figure.scrollIntoView();
        view.show(wanted);
      };
    },
  };
  return [picture];
}
