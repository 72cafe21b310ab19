// A table that readers can sort, filter, group and thin out by column, and copy as they have it before them.
import { copy, el, freshId, name } from "../dom.ts";
import type { Child } from "../dom.ts";
import type { Unit } from "../format.ts";
import { markIn, touch } from "../hover.ts";
import { scrolling } from "../scrolling.ts";
import { badge } from "../signs.ts";
import { choose, chosenFor, onAddress } from "../state.ts";
import { cellOf, contentOf, grouped, matches, Notes, sorted, unitsOf } from "./grid_model.ts";
import type { Column, Grouping, Order, RowGroup } from "./grid_model.ts";
import { asCsv, asLatex, asMarkdown } from "./table_export.ts";
import type { TableView } from "./table_export.ts";

export interface GridSpec<Row> {
  caption: string;
  columns: Column<Row>[]; // the first names the row
  rows: Row[];
  off?: ReadonlySet<string>; // columns that are not shown until they are chosen
  groupings?: Grouping<Row>[];
  grouped?: string; // by this one at first, where it makes several groups
  controls?: HTMLElement[];
  mark?(row: Row): string | undefined; // class of the row
  linked?: { part: string; subject(row: Row): number }; // rows that are subjects are marked with them (hover.ts)
  leads?(row: Row): { text: string; act(): void } | null; // where a row leads to, as a button in its first cell
  legend?: string; // a sentence under the table
  limit?: number; // rows that are shown before all are asked for
}

const filteredFrom = 13; // rows
const tallFrom = 26; // rows, from which on the table scrolls under its own head
const shownAtFirst = 250; // rows, unless the table says otherwise

export class Grid<Row> {
  readonly element: HTMLElement;
  private readonly columns: Column<Row>[];
  private readonly off: Set<string>;
  private readonly table: HTMLTableElement;
  private readonly notes = el("ol", { class: "table-notes" });
  private readonly notesBox: HTMLElement;
  private readonly more = el("p", { class: "note" });
  private readonly count = el("summary", {});
  private readonly groupings: Grouping<Row>[];
  private readonly usualGrouping: Grouping<Row> | null;
  private readonly id = freshId("t"); // in the address
  private readonly boxes = new Map<string, HTMLInputElement>();
  private groupBy: HTMLSelectElement | null = null;
  private filterBy: HTMLInputElement | null = null;
  private order: Order | null = null;
  private grouping: Grouping<Row> | null = null;
  private filter = "";
  private all = false;
  private readonly lines = new Map<Row, HTMLTableRowElement>();

  constructor(private readonly spec: GridSpec<Row>) {
    const [first, ...rest] = spec.columns;
    // What has no value but a reason for that can be looked up; what has neither is left out.
    const filled = rest.map((column) => ({ column, content: contentOf(column, spec.rows) })).filter(({ content }) => content !== "nothing");
    this.columns = first === undefined ? [] : [first, ...filled.map(({ column }) => column)];
    this.off = new Set(filled.filter(({ column, content }) => content === "reasons" || spec.off?.has(column.id) === true).map(({ column }) => column.id));
    const parts = (grouping: Grouping<Row>): number => new Set(spec.rows.map((row) => grouping.key(row))).size;
    this.groupings = (spec.groupings ?? []).filter((grouping) => parts(grouping) > 1);
    // Groups of one row each would part what is to be compared.
    this.usualGrouping = this.groupings.find((grouping) => grouping.id === spec.grouped && parts(grouping) < spec.rows.length) ?? null;
    const caption = freshId("caption");
    this.table = el("table", { class: "grid figures", "aria-labelledby": caption });
    const box = scrolling(this.table, spec.caption);
    if (spec.rows.length >= tallFrom) box.classList.add("tall");
    this.notesBox = scrolling(this.notes, `Notes of ${spec.caption}`);
    this.notesBox.classList.add("low");
    this.element = el(
      "div",
      { class: "sheet" },
      el("div", { class: "bar top" }, el("p", { class: "caption", id: caption }, name(spec.caption)), this.copies()),
      this.bar(),
      box,
      this.more,
      this.notesBox,
      spec.legend === undefined ? null : el("p", { class: "note" }, name(spec.legend)),
      this.meanings(),
    );
    this.read();
    onAddress(() => {
      this.read();
      this.refresh();
    });
    if (spec.linked !== undefined) markIn(this.table, spec.linked.part);
    this.refresh();
  }

  // What readers have chosen, from the address.
  private read(): void {
    const order = chosenFor(`${this.id}.s`);
    this.order = order === null ? null : { column: order.replace(/^-/, ""), descending: order.startsWith("-") };
    const grouping = chosenFor(`${this.id}.g`);
    this.grouping = this.groupings.find((each) => each.id === grouping) ?? (grouping === null ? this.usualGrouping : null);
    this.filter = chosenFor(`${this.id}.f`) ?? "";
    const columns = chosenFor(`${this.id}.c`)?.split(",");
    if (columns !== undefined) for (const column of this.columns.slice(1)) this.off[columns.includes(column.id) ? "delete" : "add"](column.id);
    if (this.groupBy !== null) this.groupBy.value = this.grouping?.id ?? "";
    if (this.filterBy !== null) this.filterBy.value = this.filter;
    for (const [id, box] of this.boxes) box.checked = !this.off.has(id);
  }

  // What columns read has changed.
  refresh(): void {
    this.drawHead();
    this.drawBody();
  }

  private bar(): HTMLElement | null {
    const controls: Child[] = [...(this.spec.controls ?? []), this.groupChoice(), this.filterBox(), this.chooser()];
    return controls.some((control) => control !== null) ? el("div", { class: "bar controls" }, ...controls) : null;
  }

  private groupChoice(): HTMLElement | null {
    if (this.groupings.length === 0) return null;
    const select = el("select", {
      onchange: () => {
        this.grouping = this.groupings.find((grouping) => grouping.id === select.value) ?? null;
        choose(`${this.id}.g`, this.grouping === this.usualGrouping ? null : select.value);
        this.refresh();
      },
    });
    this.groupBy = select;
    select.append(el("option", { value: "" }, "nothing"));
    for (const grouping of this.groupings) select.append(el("option", { value: grouping.id }, grouping.label));
    return el("label", {}, "Group by ", select);
  }

  private filterBox(): HTMLElement | null {
    if (this.spec.rows.length < filteredFrom) return null;
    const input = el("input", {
      type: "search",
      oninput: () => {
        this.filterFor(input.value);
      },
    });
    this.filterBy = input;
    return el("label", {}, "Filter ", input);
  }

  private chooser(): HTMLElement | null {
    if (this.off.size === 0) return null;
    const boxes = this.columns.slice(1).map((column) => {
      const box = el("input", {
        type: "checkbox",
        checked: !this.off.has(column.id),
        onchange: () => {
          if (box.checked) this.off.delete(column.id);
          else this.off.add(column.id);
          choose(`${this.id}.c`, this.shown().slice(1).map((each) => each.id).join(","));
          this.drawHead();
          this.drawBody();
        },
      });
      this.boxes.set(column.id, box);
      return el("label", {}, box, " ", name(column.title));
    });
    return el("details", { class: "chooser" }, this.count, el("div", { class: "choices", role: "group", "aria-label": "Columns" }, ...boxes));
  }

  private copies(): HTMLElement {
    const button = (label: string, text: (view: TableView<Row>) => string): HTMLElement =>
      el(
        "button",
        {
          type: "button",
          class: "small",
          "aria-label": `Copy as ${label}: ${this.spec.caption}`,
          onclick: () => void copy(text(this.view()), `${this.spec.caption}: ${label}`),
        },
        label,
      );
    return el(
      "div",
      { class: "buttons" },
      el("span", { class: "note" }, "Copy as"),
      button("Markdown", asMarkdown),
      button("CSV", asCsv),
      button("LaTeX", asLatex),
    );
  }

  private shown(): Column<Row>[] {
    return this.columns.filter((column) => !this.off.has(column.id));
  }

  private view(): TableView<Row> {
    const rows = this.spec.rows.filter((row) => matches(row, this.columns, this.filter));
    const groups = grouped(sorted(rows, this.columns, this.order), this.grouping, this.spec.rows);
    return { caption: this.spec.caption, columns: this.shown(), groups, all: grouped(this.spec.rows, this.grouping, this.spec.rows) };
  }

  // Ascending, descending, and back to the document's order.
  private sortBy(column: string): void {
    const same = this.order?.column === column;
    this.order = !same ? { column, descending: false } : this.order?.descending === true ? null : { column, descending: true };
    choose(`${this.id}.s`, this.order === null ? null : `${this.order.descending ? "-" : ""}${this.order.column}`);
    this.showOrder();
    this.drawBody();
  }

  private drawHead(): void {
    const line = el("tr", {});
    const view = this.view();
    const units = unitsOf(view.columns, view.all, view.all);
    for (const [index, column] of view.columns.entries()) {
      const unit = units.shared[index]?.name ?? "";
      line.append(
        el(
          "th",
          { scope: "col", class: column.kind === "number" ? "number" : undefined, "data-column": column.id },
          el(
            "button",
            { type: "button", class: "sort", title: column.about, onclick: () => this.sortBy(column.id) },
            el("span", { class: column.title.includes(" ") ? undefined : "short" }, name(column.title), unit === "" ? null : el("span", { class: "unit" }, ",\u00a0", name(unit))),
            el("span", { class: "arrow", "aria-hidden": "true" }),
          ),
        ),
      );
    }
    this.table.tHead?.remove();
    this.table.prepend(el("thead", {}, line));
    this.count.textContent = `Columns (${this.shown().length} of ${this.columns.length})`;
    this.showOrder();
  }

  private showOrder(): void {
    for (const head of this.table.tHead?.rows[0]?.cells ?? []) {
      const order = head.dataset["column"] === this.order?.column ? this.order : undefined;
      head.setAttribute("aria-sort", order === undefined ? "none" : order?.descending === true ? "descending" : "ascending");
    }
  }

  private drawBody(): void {
    const { columns, groups, all } = this.view();
    const units = unitsOf(columns, all, all);
    const notes = new Notes();
    let left = this.all ? Infinity : this.limit();
    const bodies: HTMLElement[] = [];
    this.lines.clear();
    for (const group of groups) {
      if (left <= 0) break;
      const body = el("tbody", {});
      const ownUnits = units.ofGroup[all.findIndex((each) => each.name === group.name)] ?? [];
      if (group.name !== "") body.append(groupLine(group, columns, units.shared, ownUnits));
      for (const row of group.rows.slice(0, left)) body.append(this.line(row, columns, ownUnits, notes));
      left -= group.rows.length;
      bodies.push(body);
    }
    for (const body of [...this.table.tBodies]) body.remove();
    this.table.append(...bodies);
    this.showMore(groups.reduce((sum, group) => sum + group.rows.length, 0));
    this.notes.replaceChildren(...notes.texts.map((note) => el("li", {}, name(note))));
    this.notesBox.hidden = notes.texts.length === 0;
  }

  // Scrolls to a row and marks it until the table is drawn again. The filter gives way, if it hides the row; of a table that
  // shows its first rows only, the row is filtered for.
  reveal(wanted: (row: Row) => boolean): void {
    const [row, first] = [this.spec.rows.find(wanted), this.columns[0]];
    if (row === undefined || first === undefined) return;
    if (!this.lines.has(row)) this.filterFor("");
    if (!this.lines.has(row)) this.filterFor(cellOf(first, row, { name: "", factor: 1 }).text);
    if (!this.lines.has(row)) {
      this.all = true;
      this.filterFor("");
    }
    for (const [other, line] of this.lines) line.classList.toggle("linked", other === row);
    const line = this.lines.get(row);
    line?.scrollIntoView({ block: "center" });
    line?.cells[0]?.querySelector("button")?.focus({ preventScroll: true });
  }

  private filterFor(text: string): void {
    this.filter = text;
    if (this.filterBy !== null) this.filterBy.value = text;
    choose(`${this.id}.f`, text === "" ? null : text);
    this.drawBody();
  }

  private limit(): number {
    return this.spec.limit ?? shownAtFirst;
  }

  private line(row: Row, columns: Column<Row>[], units: Unit[], notes: Notes): HTMLElement {
    const line = el("tr", { class: this.spec.mark?.(row) });
    this.lines.set(row, line);
    if (this.spec.linked !== undefined) touch(line, this.spec.linked.part, this.spec.linked.subject(row));
    columns.forEach((column, index) => line.append(this.cell(column, row, units[index] ?? { name: "", factor: 1 }, index === 0, notes)));
    const lead = this.spec.leads?.(row) ?? null;
    const label = columns[0] === undefined ? "" : cellOf(columns[0], row, { name: "", factor: 1 }).text;
    if (lead !== null) line.cells[0]?.append(el("button", { type: "button", class: "small lead", "aria-label": `${lead.text}: ${label}`, onclick: lead.act }, lead.text));
    return line;
  }

  private cell(column: Column<Row>, row: Row, unit: Unit, first: boolean, notes: Notes): HTMLElement {
    const { text, sub, note, about, tone } = cellOf(column, row, unit);
    const mark = note === "" ? null : el("sup", {}, String(notes.numberOf(note)));
    const title = [note, about].filter((each) => each !== "").join("; ");
    const content: Child = tone !== null ? badge(text, tone) : column.kind === "number" ? text : first ? foldable(text) : name(text);
    return el(
      first ? "th" : "td",
      { scope: first ? "row" : undefined, class: classOf(column, text), title: title === "" ? undefined : title },
      column.kind === "number" || first ? el("span", { class: "value" }, content, mark) : content,
      column.kind === "number" || first ? null : mark,
      sub === "" ? null : el("span", { class: column.kind === "number" && column.folds === true ? "sub folded" : sub.length > 40 ? "sub" : "sub short" }, column.kind === "number" ? sub : name(sub)),
    );
  }

  private showMore(found: number): void {
    const rest = this.all ? 0 : found - this.limit();
    const filtered = found < this.spec.rows.length ? `${found} of ${this.spec.rows.length} rows. ` : "";
    const showAll = (): void => {
      this.all = true;
      this.drawBody();
    };
    this.more.replaceChildren(filtered);
    if (rest > 0) this.more.append(`${rest} more rows are not shown. `, el("button", { type: "button", class: "small", onclick: showAll }, `Show all ${found}`));
    this.more.hidden = filtered === "" && rest <= 0;
  }

  private meanings(): HTMLElement | null {
    const explained = this.columns.filter((column) => column.about !== undefined);
    if (explained.length === 0) return null;
    const list = el("dl", { class: "meanings" });
    for (const column of explained) list.append(el("dt", {}, name(column.title)), el("dd", {}, column.about ?? ""));
    return el("details", { class: "data" }, el("summary", {}, "What the columns mean"), list);
  }
}

// Its name; where groups have different units, those as well.
function groupLine<Row>(group: RowGroup<Row>, columns: Column<Row>[], shared: (Unit | null)[], units: Unit[]): HTMLElement {
  const counted = el("span", { class: "note" }, ` ${group.rows.length}`, group.sum === undefined || group.sum === "" ? null : `: ${group.sum}`);
  const differ = shared.includes(null);
  const head = el("th", { scope: "rowgroup", colspan: differ ? undefined : columns.length }, el("span", {}, name(group.name), counted));
  const cells = differ ? columns.slice(1).map((_, index) => el("td", { class: "number unit" }, shared[index + 1] === null ? (units[index + 1]?.name ?? "") : "")) : [];
  return el("tr", { class: "group" }, head, ...cells);
}

// A label that may break after what joins its parts, rather than anywhere.
function foldable(text: string): HTMLElement {
  const label = name("", text);
  label.style.minWidth = `min(${Math.min(text.length, 26)}ch, var(--row-head))`; // not broken for columns that are out of sight anyhow
  for (const piece of text.split(/(?<=[,@/;])/)) label.append(piece, el("wbr"));
  return label;
}

function classOf<Row>(column: Column<Row>, text: string): string | undefined {
  if (column.kind === "number") return "number";
  const classes = [column.code === true ? "mono" : "", text.length > 40 || (column.long === true && text.length > 20) ? "long" : text.length > 28 ? "" : "short"].filter((each) => each !== "");
  return classes.length === 0 ? undefined : classes.join(" ");
}

export function grid<Row>(spec: GridSpec<Row>): HTMLElement {
  return new Grid(spec).element;
}
