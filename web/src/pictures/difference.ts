// Reference, candidate and their difference as planes of pixels, each with the scale of its values.
import type { DifferencePicture, Part } from "../document.ts";
import { el, visible } from "../dom.ts";
import { digits, whole } from "../format.ts";
import type { Look } from "../look.ts";
import type { DataTable, Picture, PlanesPicture } from "../picture.ts";
import { greys, ramp } from "./ramp.ts";
import type { Ramp } from "./ramp.ts";

const gap = 16;
const titleHeight = 22;
const scaleHeight = 40; // the bar and its numbers
const tallest = 420;

export function differencePictures(part: Part): Picture[] {
  return part.difference_pictures.flatMap((each, index) => (each.rows > 0 && each.columns > 0 ? [picture(each, index)] : []));
}

function picture(each: DifferencePicture, index: number): PlanesPicture {
  const of = [each.name === "" ? `item ${each.item}` : `item ${each.item}, ${visible(each.name)}`, visible(each.where)].filter((text) => text !== "");
  return {
    kind: "planes",
    id: `difference-${index + 1}`,
    short: `Difference: item ${each.item}`,
    title: `Difference of ${visible(each.output)}: ${of.join(", ")}`,
    reads:
      "Reference and candidate in greys of one common scale; beside them |candidate − reference|, from none to the largest. " +
      "A ring marks the largest. A value that is finite in one of the two only counts as the largest.",
    note: () => note(each),
    height: (width) => layout(each, width).height,
    paint: (canvas, look, width, _height, scale) => paint(each, canvas, look, width, scale),
    data: () => data(each),
  };
}

function note(each: DifferencePicture): string {
  const worst = largest(each);
  const size = `${whole(each.full_rows)} × ${whole(each.full_columns)}`;
  const thinned = each.rows < each.full_rows || each.columns < each.full_columns;
  const where = worst === null ? "" : ` in row ${rowsOf(each, worst.row)}, column ${columnsOf(each, worst.column)} of ${size} (from 0)`;
  return (
    `Largest difference: ${digits(each.max_difference, 4)}${where}.` +
    (thinned
      ? ` Thinned to ${each.rows} × ${each.columns} pixels: reference and candidate are means of the values that a pixel stands for, the difference is the largest of them.`
      : "")
  );
}

// Rows of the whole output that a row of the thinned one stands for: "12", "12–15".
function range(at: number, thinned: number, full: number): string {
  const [first, last] = [Math.floor((at * full) / thinned), Math.floor(((at + 1) * full) / thinned) - 1];
  return first >= last ? String(first) : `${first}–${last}`;
}
const rowsOf = (each: DifferencePicture, row: number): string => range(row, each.rows, each.full_rows);
const columnsOf = (each: DifferencePicture, column: number): string => range(column, each.columns, each.full_columns);

function bytes(plane: string): Uint8Array {
  return Uint8Array.from(atob(plane), (character) => character.charCodeAt(0));
}

function largest(each: DifferencePicture): { row: number; column: number } | null {
  const values = bytes(each.difference);
  let at = 0;
  for (let i = 1; i < values.length; i += 1) if ((values[i] ?? 0) > (values[at] ?? 0)) at = i;
  return (values[at] ?? 0) === 0 ? null : { row: Math.floor(at / each.columns), column: at % each.columns };
}

interface Layout {
  planes: { x: number; y: number; width: number; height: number }[];
  height: number;
}

// Side by side where there is room, else one above the other.
function layout(each: DifferencePicture, width: number): Layout {
  const beside = width >= 560;
  const room = beside ? (width - 2 * gap) / 3 : width;
  const zoom = Math.min(room / each.columns, tallest / each.rows);
  const [planeWidth, planeHeight] = [Math.max(1, Math.round(each.columns * zoom)), Math.max(1, Math.round(each.rows * zoom))];
  const step = titleHeight + planeHeight + scaleHeight;
  const planes = [0, 1, 2].map((i) => ({
    x: beside ? Math.round(i * (room + gap)) : 0,
    y: (beside ? 0 : i * (step + gap / 2)) + titleHeight,
    width: planeWidth,
    height: planeHeight,
  }));
  return { planes, height: beside ? step : 3 * step + gap };
}

function paint(each: DifferencePicture, canvas: HTMLCanvasElement, look: Look, width: number, scale: number): void {
  const context = canvas.getContext("2d");
  if (context === null) return;
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.fillStyle = look.panel;
  context.fillRect(0, 0, canvas.width, canvas.height);
  const [grey, single] = [greys, ramp(look.dark)];
  const values = [each.reference, each.candidate, each.difference];
  const titles = ["Reference", "Candidate", "|Difference|"];
  layout(each, width).planes.forEach((place, i) => {
    const colors = i === 2 ? single : grey;
    text(context, look, titles[i] ?? "", place.x, place.y - 7, "left", 600);
    plane(context, each, values[i] ?? "", colors, place);
    const [low, high] = i === 2 ? [0, each.max_difference] : [each.scale.low, each.scale.high];
    scaleBar(context, look, colors, low, high, place);
    if (i === 2) ring(context, each, look, place);
  });
}

type Place = Layout["planes"][number];

function plane(context: CanvasRenderingContext2D, each: DifferencePicture, packed: string, colors: Ramp, place: Place): void {
  const values = bytes(packed).subarray(0, each.rows * each.columns);
  // Pixels that are drawn larger stay squares: between them nothing was measured.
  context.imageSmoothingEnabled = place.width < each.columns;
  context.drawImage(image(values, each.columns, each.rows, colors), place.x, place.y, place.width, place.height);
}

function image(values: Uint8Array, columns: number, rows: number, colors: Ramp): HTMLCanvasElement {
  const canvas = el("canvas");
  canvas.width = columns;
  canvas.height = rows;
  const pixels = new ImageData(columns, rows);
  values.forEach((value, i) => pixels.data.set(colors[value] ?? [0, 0, 0, 255], 4 * i));
  canvas.getContext("2d")?.putImageData(pixels, 0, 0);
  return canvas;
}

function scaleBar(context: CanvasRenderingContext2D, look: Look, colors: Ramp, low: number, high: number, place: Place): void {
  const [y, width] = [place.y + place.height + 6, Math.max(place.width, 150)];
  context.drawImage(image(Uint8Array.from({ length: 256 }, (_, i) => i), 256, 1, colors), place.x, y, width, 10);
  context.strokeStyle = look.muted;
  context.lineWidth = 1;
  context.strokeRect(place.x + 0.5, y + 0.5, width - 1, 10);
  text(context, look, digits(low), place.x, y + 25, "left");
  text(context, look, digits(high), place.x + width, y + 25, "right");
}

// Dark within light: to be seen on every colour.
function ring(context: CanvasRenderingContext2D, each: DifferencePicture, look: Look, place: Place): void {
  const at = largest(each);
  if (at === null) return;
  const pixel = place.width / each.columns;
  const [x, y] = [place.x + (at.column + 0.5) * pixel, place.y + (at.row + 0.5) * pixel];
  for (const [width, color] of [[4, look.panel], [1.75, look.text]] as const) {
    context.beginPath();
    context.arc(x, y, Math.max(7, pixel), 0, 2 * Math.PI);
    context.lineWidth = width;
    context.strokeStyle = color;
    context.stroke();
  }
}

function text(context: CanvasRenderingContext2D, look: Look, content: string, x: number, y: number, align: CanvasTextAlign, weight = 400): void {
  context.font = `${weight} 12px ${look.font}`;
  context.fillStyle = weight > 400 ? look.text : look.muted;
  context.textAlign = align;
  context.textBaseline = "alphabetic";
  context.fillText(content, x, y);
}

function data(each: DifferencePicture): DataTable {
  const values = bytes(each.difference);
  const rows: [string, number][] = [
    ["item", each.item],
    ["rows of the output", each.full_rows],
    ["columns of the output", each.full_columns],
    ["rows drawn", each.rows],
    ["columns drawn", each.columns],
    ["lowest of reference and candidate", each.scale.low],
    ["highest of reference and candidate", each.scale.high],
    ["largest |difference|", each.max_difference],
  ];
  for (let row = 0; row < each.rows; row += 1) {
    const largestByte = values.subarray(row * each.columns, (row + 1) * each.columns).reduce((a, b) => Math.max(a, b), 0);
    rows.push([`largest |difference| of row ${rowsOf(each, row)}, to 1/255 of the largest`, (largestByte / 255) * each.max_difference]);
  }
  return { columns: [{ title: "figure", numeric: false }, { title: "value", numeric: true }], rows };
}
