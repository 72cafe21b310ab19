// A table as it is shown (its columns, its order) as Markdown and LaTeX, for papers and pull requests; and as CSV with
// the numbers as the document has them, in base units.
import { csv } from "../csv.ts";
import { visible } from "../dom.ts";
import { MISSING, withUnit } from "../format.ts";
import type { Unit } from "../format.ts";
import type { Cell } from "../picture.ts";
import { cellOf, headerOf, Notes, unitsOf } from "./grid_model.ts";
import type { Column, RowGroup } from "./grid_model.ts";

export interface TableView<Row> {
  caption: string;
  columns: Column<Row>[];
  groups: RowGroup<Row>[]; // as they are shown
  all: readonly RowGroup<Row>[]; // units are picked from: without a filter
}

const raised = "⁰¹²³⁴⁵⁶⁷⁸⁹";

function superscript(number: number): string {
  return [...String(number)].map((digit) => raised[Number(digit)] ?? "").join("");
}

// As GitHub reads it: no markup, no mention and no reference comes out of a name.
export function markdownText(text: string): string {
  const entities: Record<string, string> = { "<": "&lt;", ">": "&gt;", "&": "&amp;", "@": "&#64;", "#": "&#35;" };
  return visible(text).replace(/[<>&@#]/g, (sign) => entities[sign] ?? sign).replace(/[\\`*_[\]|~$]/g, "\\$&");
}

const latexSigns: Record<string, string> = {
  "\\": "\\textbackslash{}",
  "~": "\\textasciitilde{}",
  "^": "\\textasciicircum{}",
  "<": "\\textless{}",
  ">": "\\textgreater{}",
  "|": "\\textbar{}",
  '"': "\\textquotedbl{}",
  "−": "$-$",
  "×": "$\\times$",
  "–": "--",
  "…": "\\ldots{}",
  "[": "{[}", // after \\ it would be an option
  "]": "{]}",
};

export function latexText(text: string): string {
  return visible(text).replace(/[\\~^<>|"−×–…[\]&%$#_{}]/g, (sign) => latexSigns[sign] ?? `\\${sign}`);
}

interface Style {
  text(text: string): string;
  number(text: string): string; // a value with its interval: its brackets are no markup where they stand
  mark(number: number): string;
}

const markdownStyle: Style = { text: markdownText, number: (text) => text, mark: superscript };
const latexStyle: Style = {
  text: latexText,
  number: (text) => latexText(text).replace(/\{([[\]])\}/g, "$1"),
  mark: (number) => `\\textsuperscript{${number}}`,
};

// The lines of cells, a group's name before its rows, and the notes that cells point to.
function written<Row>(view: TableView<Row>, style: Style): { head: string[]; groups: { name: string; rows: string[][] }[]; notes: string[] } {
  const units = unitsOf(view.columns, view.groups, view.all);
  const notes = new Notes();
  const cell = (row: Row, index: number, unit: Unit): string => {
    const column = view.columns[index] as Column<Row>;
    const { text: bare, sub, note } = cellOf(column, row, unit);
    const text = units.shared[index] === null ? withUnit(bare, unit) : bare;
    const body = column.kind === "number" ? style.number(`${text} ${sub}`.trim()) : style.text(sub === "" ? text : `${text} (${sub})`);
    return note === "" ? body : body + style.mark(notes.numberOf(note));
  };
  const groups = view.groups.map((group, place) => ({
    name: style.text(group.name),
    rows: group.rows.map((row) => view.columns.map((_, index) => cell(row, index, units.ofGroup[place]?.[index] as Unit))),
  }));
  return {
    head: view.columns.map((column, index) => style.text(headerOf(column, units.shared[index] ?? { name: "", factor: 1 }))),
    groups,
    notes: notes.texts.map((note, index) => `${style.mark(index + 1)} ${style.text(note)}`),
  };
}

export function asMarkdown<Row>(view: TableView<Row>): string {
  const { head, groups, notes } = written(view, markdownStyle);
  const line = (cells: string[]): string => `| ${cells.join(" | ")} |`;
  const lines = [line(head), line(view.columns.map((column) => (column.kind === "number" ? "---:" : "---")))];
  for (const group of groups) {
    if (group.name !== "") lines.push(line(head.map((_, index) => (index === 0 ? `**${group.name}**` : ""))));
    lines.push(...group.rows.map(line));
  }
  if (notes.length > 0) lines.push("", ...notes.map((note) => `${note}  `));
  return `${lines.join("\n")}\n`;
}

export function asLatex<Row>(view: TableView<Row>): string {
  const { head, groups, notes } = written(view, latexStyle);
  const width = view.columns.length;
  const line = (cells: string[]): string => `  ${cells.join(" & ")} \\\\`;
  const lines = [`\\begin{tabular}{${view.columns.map((column) => (column.kind === "number" ? "r" : "l")).join("")}}`, "  \\hline", line(head), "  \\hline"];
  for (const group of groups) {
    if (group.name !== "") lines.push(`  \\multicolumn{${width}}{l}{\\textit{${group.name}}} \\\\`);
    lines.push(...group.rows.map(line));
  }
  lines.push("  \\hline", "\\end{tabular}");
  if (notes.length > 0) lines.push("", ...notes.map((note) => `${note}\\\\`));
  return `${lines.join("\n")}\n`;
}

// Measured columns become three where a row has an interval: value, low, high.
export function asCsv<Row>(view: TableView<Row>): string {
  const rows = view.groups.flatMap((group) => group.rows);
  const columns: { title: string; numeric: boolean; cell(row: Row): Cell }[] = [];
  for (const column of view.columns) {
    if (column.kind === "text") {
      columns.push({ title: column.title, numeric: false, cell: (row) => (column.text(row) === MISSING ? null : visible(column.text(row))) });
      continue;
    }
    const unit = baseUnit(column.unit ?? column.quantity);
    const title = unit === "" ? column.title : `${column.title}, ${unit}`;
    columns.push({ title, numeric: true, cell: (row) => column.measure(row).value });
    if (!rows.some((row) => column.measure(row).interval)) continue;
    columns.push({ title: `${title}: low`, numeric: true, cell: (row) => column.measure(row).interval?.low ?? null });
    columns.push({ title: `${title}: high`, numeric: true, cell: (row) => column.measure(row).interval?.high ?? null });
  }
  return csv({ columns: columns.map(({ title, numeric }) => ({ title, numeric })), rows: rows.map((row) => columns.map((column) => column.cell(row))) });
}

function baseUnit(quantity: string): string {
  return quantity === "plain" || quantity === "count" || quantity === "ratio" || quantity === "share" ? "" : quantity;
}
