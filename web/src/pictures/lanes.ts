// Horizontal lanes, one under the other, with their names at the left, or above them where there is little room.
import { shortened, visible } from "../dom.ts";
import type { Option } from "../echarts.ts";
import type { Look } from "../look.ts";

export interface Lane {
  text: string; // of two lines where lanes are high enough
  after?: string; // at the right, or behind the text
  heading?: boolean;
  word?: string; // before `after`, where there is room, with a sign: see signPlace
}

const narrow = 560;
const perCharacter = 7.3; // pixels, of the widest fonts at 12 px
const usual = 6.6; // likewise, of most
const perDigit = 8.2; // of digits and units in the widest fonts
const bottom = 52;
const top = 8;

export function isNarrow(width: number): boolean {
  return width < narrow;
}

// Pixels: names that stand above their lanes need some of their own.
export function laneHeight(width: number, height: number): number {
  return isNarrow(width) ? height + 28 : height;
}

export function lanesHeight(lanes: number, width: number, height: number): number {
  return top + bottom + lanes * laneHeight(width, height);
}

// The lane at a height of the drawing.
export function laneAt(y: number, lanes: number, height: number): number | null {
  const at = Math.floor(((y - top) / (height - top - bottom)) * lanes);
  return lanes > 0 && at >= 0 && at < lanes ? at : null;
}

export function laneBox(lane: number, lanes: number, height: number): { top: string; height: string } {
  const each = (height - top - bottom) / lanes;
  return { top: `${top + lane * each}px`, height: `${each}px` };
}

function longest(texts: string[], most: number, each = perCharacter): number {
  return Math.min(most, Math.max(0, ...texts.flatMap((text) => text.split("\n")).map((text) => text.length)) * each);
}

// Each of its lines.
function cut(text: string, characters: number): string {
  return text.split("\n").map((each) => shortened(visible(each), characters)).join("\n");
}

export interface LaneFrame {
  grid: Option;
  yAxis: Option[];
  room: number; // pixels between left and right
}

// Lane i lies around y = i.
export function laneFrame(lanes: Lane[], look: Look, width: number): LaneFrame {
  const tight = isNarrow(width);
  const after = longest(lanes.map(behind), width * 0.42, lanes.some((lane) => lane.word !== undefined) ? perCharacter : perDigit);
  // Names have the room that short figures leave.
  const left = tight ? 12 : 26 + longest(lanes.map((lane) => (lane.heading === true ? `${lane.text}  ` : lane.text)), Math.max(width * 0.3, width * 0.6 - after));
  const signs = lanes.some((lane) => lane.word !== undefined) ? signRoom : 0;
  const right = tight || after === 0 ? 16 : after + signs + 14;
  const room = width - left - right;
  const axisOf = (which: number[], text: (lane: Lane) => string, style: Option): Option => ({
    type: "value",
    inverse: true,
    z: tight ? 9 : 0, // names stand on what is drawn
    min: -0.5,
    max: lanes.length - 0.5,
    axisLine: { show: false },
    axisTick: { show: false, customValues: which },
    splitLine: { show: false },
    axisLabel: { fontSize: 12, lineHeight: 15, customValues: which, overflow: "truncate", hideOverlap: false, formatter: (at: number) => text(lanes[Math.round(at)] ?? { text: "" }), ...style },
  });
  const where = (heading: boolean): number[] => lanes.flatMap((lane, index) => ((lane.heading ?? false) === heading ? [index] : []));
  const place = tight
    ? { inside: true, margin: 0, width: room, verticalAlign: "bottom", padding: [0, 0, 18, 0], textBorderColor: look.panel, textBorderWidth: 3 }
    : { margin: 10, width: left - 12 };
  const whole = (lane: Lane): string => (tight ? besides(lane, room) : cut(lane.text, (left - 22) / perCharacter));
  return {
    grid: { left, right, top, bottom, containLabel: false, outerBoundsMode: "none" },
    yAxis: [
      { ...axisOf(where(false), whole, { color: look.text, ...place }), position: "left" },
      { ...axisOf(where(true), whole, { color: look.text, fontWeight: 600, ...place }), position: "left", offset: 0 },
      { ...axisOf(tight ? [] : where(false), (lane) => fitting(behind(lane), after), { color: look.text, width: right - signs - 12, margin: signs + 10 }), position: "right" },
    ],
    room,
  };
}

function behind(lane: Lane): string {
  return [lane.word ?? "", lane.after ?? ""].filter((text) => text !== "").join(" ");
}

// An interval that there is no room for is drawn all the same; a figure is never cut.
function fitting(text: string, room: number): string {
  return text.length * usual > room ? text.replace(/ \[[^\]]*\]$/, "") : text;
}

const signRoom = 20;

// The middle of a lane's sign: before the text at the right, or at the end of the line above.
export function signPlace(area: { x: number; width: number }, y: number, width: number): { x: number; y: number } {
  const end = area.x + area.width;
  return isNarrow(width) ? { x: end - 9, y: y - 26 } : { x: end + 18, y };
}

// The name is cut, not the figures behind it.
function besides(lane: Lane, room: number): string {
  const text = visible(lane.text.replace("\n", ", "));
  const after = room > 300 ? behind(lane) : (lane.after ?? "");
  if (after === "") return shortened(text, room / perCharacter);
  const most = Math.floor((room - (lane.word === undefined ? 0 : signRoom)) / perCharacter) - after.length - 3;
  // Isolated, so that a name from right to left does not turn the figures around.
  return `\u2068${shortened(text, Math.max(5, most))}\u2069   ${after}`;
}
