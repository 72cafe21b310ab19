// What tables read, how they sort, and what is copied from them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { csv } from "../src/csv.ts";
import { cellOf, contentOf, grouped, headerOf, matches, sorted, unitOf } from "../src/sections/grid_model.ts";
import type { Column, Measure } from "../src/sections/grid_model.ts";
import { asCsv, asLatex, asMarkdown, latexText, markdownText } from "../src/sections/table_export.ts";

interface Row {
  name: string;
  latency: Measure;
}

const label: Column<Row> = { kind: "text", id: "name", title: "subject", text: (row) => row.name };
const latency: Column<Row> = { kind: "number", id: "latency", title: "latency p50", quantity: "s", measure: (row) => row.latency };
const columns = [label, latency];
const row = (name: string, value: number | null, more: Partial<Measure> = {}): Row => ({ name, latency: { value, ...more } });
const names = (rows: Row[]): string => rows.map((each) => each.name).join("");

test("a column has one unit, that of its median, and rows that are filtered out count too", () => {
  const rows = [row("a", 0.002), row("b", 0.02), row("c", 3)];
  assert.equal(headerOf(latency, unitOf(latency, rows)), "latency p50, ms");
  assert.equal(cellOf(latency, rows[2] as Row, unitOf(latency, rows)).text, "3000");
  assert.equal(headerOf(latency, unitOf(latency, [row("a", null)])), "latency p50");
});

test("a value has as many digits as its interval", () => {
  const cell = cellOf(latency, row("a", 0.25, { interval: { low: 0.2496, high: 0.2504 } }), { name: "ms", factor: 1e-3 });
  assert.equal(cell.text, "250.0");
  assert.equal(cell.sub, "[249.6, 250.4]");
});

test("what is not there is a dash with its reason, never 0", () => {
  const cell = cellOf(latency, row("a", null, { note: "needs 299 iterations" }), { name: "ms", factor: 1e-3 });
  assert.deepEqual([cell.text, cell.note], ["–", "needs 299 iterations"]);
  assert.equal(cellOf(latency, row("a", NaN), { name: "ms", factor: 1e-3 }).text, "–");
});

test("rows sort stably, those without a value last either way round", () => {
  const rows = [row("a", 2), row("b", null), row("c", 1), row("d", 2), row("e", NaN)];
  assert.equal(names(sorted(rows, columns, { column: "latency", descending: false })), "cadbe");
  assert.equal(names(sorted(rows, columns, { column: "latency", descending: true })), "adcbe");
  assert.equal(names(sorted(rows, columns, null)), "abcde");
});

test("numbers in names sort as numbers", () => {
  const rows = [row("batch 16", 1), row("batch 2", 1), row("batch 1", 1)];
  assert.deepEqual(sorted(rows, columns, { column: "name", descending: false }).map((each) => each.name), ["batch 1", "batch 2", "batch 16"]);
});

test("groups keep the document's order, whatever their rows are sorted by", () => {
  const rows = [row("b1", 3), row("a1", 2), row("b2", 1)];
  const grouping = { id: "letter", label: "letter", key: (each: Row): string => each.name.slice(0, 1) };
  const groups = grouped(sorted(rows, columns, { column: "latency", descending: false }), grouping, rows);
  assert.deepEqual(groups.map((group) => [group.name, names(group.rows)]), [["letter b", "b2b1"], ["letter a", "a1"]]);
});

test("the filter looks at what is shown", () => {
  assert.ok(matches(row("ResNet@\u202eab", 1), columns, "resnet"));
  assert.ok(matches(row("ResNet@\u202eab", 1), columns, "u{202e}"));
  assert.ok(!matches(row("ResNet", 1), columns, "vit"));
});

test("a column without a value is distinguished from one that says why", () => {
  assert.equal(contentOf(latency, [row("a", null)]), "nothing");
  assert.equal(contentOf(latency, [row("a", null, { note: "needs 299 iterations" })]), "reasons");
  assert.equal(contentOf(latency, [row("a", null), row("b", 1)]), "values");
  assert.equal(contentOf(latency, [row("a", null, { instead: "baseline" })]), "values");
});

const hostile = {
  caption: "",
  columns,
  groups: [
    {
      name: "",
      rows: [row("a|b <i> `c` @d [e](f) $x$ \\", 0.002, { interval: { low: 0.001, high: 0.003 } }), row("%&_#{}~^", null, { note: "needs 299" })],
    },
  ],
  all: [{ name: "", rows: [row("", 0.002)] }],
};

test("Markdown: no markup comes out of a name, and notes follow the table", () => {
  const lines = asMarkdown(hostile).split("\n");
  assert.equal(lines[0], "| subject | latency p50, ms |");
  assert.equal(lines[1], "| --- | ---: |");
  assert.equal(lines[2], "| a\\|b &lt;i&gt; \\`c\\` &#64;d \\[e\\](f) \\$x\\$ \\\\ | 2.00 [1.00, 3.00] |");
  assert.equal(lines[3], "| %&amp;\\_&#35;{}\\~^ | –¹ |");
  assert.equal(lines[5], "¹ needs 299  ");
});

test("Markdown keeps Unicode, and shows what steers", () => {
  assert.equal(markdownText("µs × é 中"), "µs × é 中");
  assert.equal(markdownText("a\u202eb\n"), "a\\\\u{202e}b\\\\u{a}");
});

test("LaTeX: every sign of its own is escaped, and brackets after a line's end are no option", () => {
  assert.equal(
    latexText("a_b & 50% $x$ #1 {y} ~ ^ \\ é"),
    "a\\_b \\& 50\\% \\$x\\$ \\#1 \\{y\\} \\textasciitilde{} \\textasciicircum{} \\textbackslash{} é",
  );
  const text = asLatex(hostile);
  assert.match(text, /^\\begin\{tabular\}\{lr\}\n/);
  assert.match(text, / & 2\.00 \[1\.00, 3\.00\] \\\\\n/);
  assert.match(text, /--\\textsuperscript\{1\} \\\\\n/);
  assert.equal(latexText("[a]"), "{[}a{]}");
});

test("CSV: numbers as the document has them, in base units, with their intervals beside them", () => {
  const rows = [row("a", 0.0021234567, { interval: { low: 0.002, high: 0.003 } }), row("b", null)];
  assert.equal(
    asCsv({ caption: "", columns, groups: [{ name: "", rows }], all: [] }),
    'subject,"latency p50, s","latency p50, s: low","latency p50, s: high"\r\na,0.0021234567,0.002,0.003\r\nb,,,\r\n',
  );
});

test("CSV: a spreadsheet takes no cell for a formula", () => {
  const head = [{ title: "=1+1", numeric: false }];
  const rows = [["=cmd|' /C calc'!A0"], ["+1"], ["-1"], ["@x"], ['a"b,c']];
  assert.equal(csv({ columns: head, rows }), "'=1+1\r\n'=cmd|' /C calc'!A0\r\n'+1\r\n'-1\r\n'@x\r\n\"a\"\"b,c\"\r\n");
});
