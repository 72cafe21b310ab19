// Reference, candidate and their difference as planes of pixels, each with the scale of its values.
import type { DifferencePicture, Part } from "../document.ts";
import { visible } from "../dom.ts";
import { digits, placeText } from "../format.ts";
import type { Cell, DataTable, Picture, PlanesPicture } from "../picture.ts";
import { isThinned, levels, PlanesView, rowsOf } from "./planes_view.ts";

export function differencePictures(part: Part): Picture[] {
  return part.difference_pictures.flatMap((each, index) => (each.rows > 0 && each.columns > 0 ? [picture(each, index)] : []));
}

function picture(each: DifferencePicture, index: number): PlanesPicture {
  const of = [...new Set([`item ${each.item}`, visible(each.name), visible(each.where)])].filter((text) => text !== "");
  const title = `Difference of ${visible(each.output)}: ${of.join(", ")}`;
  const reads =
    "Reference and candidate in greys of one common scale; beside them |candidate − reference|, from none to the largest. " +
    "A ring marks the largest; what is not a finite number is red. Arrows move a crosshair, with Shift what is in view; b changes between reference and candidate, d shows the difference, a all three.";
  return {
    kind: "planes",
    id: `difference-${index + 1}`,
    short: `Difference: item ${each.item}`,
    title,
    reads,
    note: () => note(each),
    open: (address) => new PlanesView(each, `${title}. ${reads}`, address),
    data: () => data(each),
  };
}

function largestPlace({ largest, plane }: DifferencePicture): string {
  return largest === null ? "" : placeText([...plane, largest.row, largest.column]);
}

function note(each: DifferencePicture): string {
  const at = largestPlace(each);
  return (
    `Largest difference: ${digits(each.max_difference, 4)}${at === "" ? "" : ` at ${at}`} of ${each.full_rows} × ${each.full_columns}, counted from 0.` +
    (isThinned(each)
      ? ` Thinned to ${each.rows} × ${each.columns} pixels: reference and candidate are means of the values that a pixel stands for, the difference is the largest of them.`
      : "")
  );
}

function data(each: DifferencePicture): DataTable {
  const values = levels(each.difference, each.rows * each.columns);
  const rows: Cell[][] = [
    ["item", each.item],
    ["rows of the output", each.full_rows],
    ["columns of the output", each.full_columns],
    ["rows drawn", each.rows],
    ["columns drawn", each.columns],
    ["lowest of reference and candidate", each.scale.low],
    ["highest of reference and candidate", each.scale.high],
    ["largest |difference|", each.max_difference],
    ["place of the largest", largestPlace(each)],
  ];
  for (let row = 0; row < each.rows; row += 1) {
    const most = values.subarray(row * each.columns, (row + 1) * each.columns).reduce((a, b) => Math.max(a, b), 0);
    rows.push([`largest |difference| of row ${rowsOf(each, row)}`, most > 65532 ? "finite in one only" : Number(((most / 65532) * each.max_difference).toPrecision(4))]);
  }
  return { columns: [{ title: "figure", numeric: false }, { title: "value", numeric: true }], rows };
}
