// A table as values: columns that know how their cells read, sort and are exported. No elements here.
import type { Tone } from "../document.ts";
import { visible } from "../dom.ts";
import { interval, intervalDigits, inUnit, MISSING, signed, isUninformative, tooFew, unitForAll, whole } from "../format.ts";
import type { Quantity, Unit } from "../format.ts";

export interface Measure {
  value: number | null;
  interval?: { low: number; high: number } | null | undefined;
  note?: string | undefined; // why there is no value, or what to mind about it
  sub?: string | undefined; // beneath the value, where there is no interval
  instead?: string | undefined; // stands where the value would: "baseline"
  about?: string | undefined; // n, method
}

interface ColumnBase {
  id: string;
  title: string;
  about?: string; // what the column means
}

export interface NumberColumn<Row> extends ColumnBase {
  kind: "number";
  quantity: Quantity;
  unit?: string; // of quantity plain
  signed?: boolean; // with + or −
  folds?: boolean; // what stands beneath a number may take two lines
  show?(value: number): string;
  measure(row: Row): Measure;
}

export interface TextColumn<Row> extends ColumnBase {
  kind: "text";
  text(row: Row): string;
  tone?(row: Row): Tone | null; // shown as a badge of that tone
  sub?(row: Row): string;
  note?(row: Row): string;
  order?(row: Row): number | string | null; // what it is sorted by, instead of its text
  code?: boolean;
  long?: boolean; // its cells get room, however short their texts
}

export type Column<Row> = NumberColumn<Row> | TextColumn<Row>;

export interface CellView {
  text: string;
  sub: string;
  note: string;
  about: string;
  tone: Tone | null;
}

export interface Order {
  column: string;
  descending: boolean;
}

export interface Grouping<Row> {
  id: string;
  label: string;
  key(row: Row): string;
  sum?(rows: Row[]): string; // what a group's rows come to, beside its name
}

export interface RowGroup<Row> {
  name: string; // "" where rows are not grouped
  rows: Row[];
  sum?: string;
}

// One unit for a column, whatever is filtered out of it.
export function unitOf<Row>(column: Column<Row>, rows: readonly Row[]): Unit {
  if (column.kind === "text") return { name: "", factor: 1 };
  if (column.unit !== undefined) return { name: column.unit, factor: 1 };
  const values = rows.map((row) => column.measure(row).value).filter((value) => value !== null && Number.isFinite(value));
  return values.length === 0 ? { name: "", factor: 1 } : unitForAll(column.quantity, values);
}

const noUnit: Unit = { name: "", factor: 1 };

// Of each column: the unit that all groups share, in its head, or one for each group, in the group's own line.
export interface Units {
  shared: (Unit | null)[]; // by column; null: they differ
  ofGroup: Unit[][]; // by group, then by column
}

// `all`: whatever is filtered out of them; the same groups by name.
export function unitsOf<Row>(columns: readonly Column<Row>[], groups: readonly RowGroup<Row>[], all: readonly RowGroup<Row>[]): Units {
  const ofGroup = groups.map((group) => columns.map((column) => unitOf(column, (all.find((each) => each.name === group.name) ?? group).rows)));
  const shared = columns.map((_, index) => {
    const names = new Set(ofGroup.map((units) => units[index]?.name ?? "").filter((unit) => unit !== ""));
    return names.size > 1 ? null : (ofGroup.find((units) => units[index]?.name !== "")?.[index] ?? noUnit);
  });
  return { shared, ofGroup: ofGroup.map((units) => units.map((unit, index) => shared[index] ?? unit)) };
}

export function headerOf<Row>(column: Column<Row>, unit: Unit): string {
  return unit.name === "" ? column.title : `${column.title}, ${unit.name}`;
}

export function cellOf<Row>(column: Column<Row>, row: Row, unit: Unit): CellView {
  if (column.kind === "text") {
    return {
      text: visible(column.text(row)),
      sub: visible(column.sub?.(row) ?? ""),
      note: visible(column.note?.(row) ?? ""),
      about: "",
      tone: column.tone?.(row) ?? null,
    };
  }
  const measure = column.measure(row);
  return {
    text: measure.instead ?? valueText(column, measure, unit),
    sub: intervalText(column, measure, unit) ?? visible(measure.sub ?? ""),
    note: visible(measure.note ?? ""),
    about: visible(measure.about ?? ""),
    tone: null,
  };
}

function valueText<Row>(column: NumberColumn<Row>, { value, interval: range }: Measure, unit: Unit): string {
  if (value === null || !Number.isFinite(value)) return MISSING;
  if (column.show !== undefined) return column.show(value);
  if (column.quantity === "count" && Number.isInteger(value)) return whole(value);
  const significant = range && (column.signed === true || !isUninformative(value, range.low, range.high)) ? intervalDigits(range.low, range.high, unit) : 3;
  return column.signed === true ? signed(value / unit.factor, significant) : inUnit(value, unit, significant);
}

function intervalText<Row>(column: NumberColumn<Row>, measure: Measure, unit: Unit): string | null {
  const range = measure.interval;
  if (range === null || range === undefined || measure.value === null) return null;
  if (column.signed === true) {
    const significant = intervalDigits(range.low, range.high, unit);
    return `[${signed(range.low / unit.factor, significant)}, ${signed(range.high / unit.factor, significant)}]`;
  }
  return isUninformative(measure.value, range.low, range.high) ? tooFew : interval(range.low, range.high, unit);
}

function orderOf<Row>(column: Column<Row>, row: Row): number | string | null {
  if (column.kind === "number") {
    const value = column.measure(row).value;
    return value !== null && Number.isFinite(value) ? value : null;
  }
  if (column.order !== undefined) return column.order(row);
  const text = column.text(row);
  return text === "" || text === MISSING ? null : text;
}

const collator = new Intl.Collator("en", { numeric: true });

function compare(a: number | string, b: number | string): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (typeof a === "string" && typeof b === "string") return collator.compare(a, b);
  return typeof a === "number" ? -1 : 1;
}

// Rows that compare equal keep the document's order either way round; what has no value comes last either way round.
export function sorted<Row>(rows: readonly Row[], columns: readonly Column<Row>[], order: Order | null): Row[] {
  const column = columns.find((each) => each.id === order?.column);
  if (order === null || column === undefined) return [...rows];
  const sign = order.descending ? -1 : 1;
  const keyed = rows.map((row) => ({ row, key: orderOf(column, row) }));
  keyed.sort((a, b) => {
    if (a.key === null || b.key === null) return a.key === b.key ? 0 : a.key === null ? 1 : -1;
    return sign * compare(a.key, b.key);
  });
  return keyed.map((each) => each.row);
}

// Groups stand in the order in which they first come up in `rows`.
export function grouped<Row>(rows: readonly Row[], grouping: Grouping<Row> | null, all: readonly Row[]): RowGroup<Row>[] {
  if (grouping === null) return [{ name: "", rows: [...rows] }];
  const groups = new Map<string, Row[]>(all.map((row) => [grouping.key(row), []]));
  for (const row of rows) groups.get(grouping.key(row))?.push(row);
  return [...groups].filter(([, members]) => members.length > 0).map(([key, members]) => ({ name: `${grouping.label} ${visible(key)}`, rows: members, sum: grouping.sum?.(members) ?? "" }));
}

export function matches<Row>(row: Row, columns: readonly Column<Row>[], text: string): boolean {
  const wanted = text.trim().toLocaleLowerCase();
  if (wanted === "") return true;
  return columns.some((column) => column.kind === "text" && visible(column.text(row)).toLocaleLowerCase().includes(wanted));
}

// What a column has to say: values, only reasons why there are none, or nothing.
export function contentOf<Row>(column: Column<Row>, rows: readonly Row[]): "values" | "reasons" | "nothing" {
  if (column.kind === "text") return rows.some((row) => column.text(row) !== "" && column.text(row) !== MISSING) ? "values" : "nothing";
  const measures = rows.map((row) => column.measure(row));
  if (measures.some(({ value, instead }) => (value !== null && Number.isFinite(value)) || instead !== undefined)) return "values";
  return measures.some(({ note }) => note !== undefined && note !== "") ? "reasons" : "nothing";
}

// Notes are numbered as they first come up, so that a table says each once.
export class Notes {
  private readonly numbers = new Map<string, number>();

  numberOf(note: string): number {
    const known = this.numbers.get(note) ?? this.numbers.size + 1;
    this.numbers.set(note, known);
    return known;
  }

  get texts(): string[] {
    return [...this.numbers.keys()];
  }
}
