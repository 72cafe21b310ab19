// Tables as comma-separated values (RFC 4180).
import type { Cell, DataTable } from "./picture.ts";

// A cell that a spreadsheet would take for a formula gets an apostrophe before it.
export function csv(table: DataTable): string {
  const cell = (value: Cell): string => {
    if (value === null) return "";
    if (typeof value === "number") return Number.isFinite(value) ? String(value) : "";
    const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
    return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  const lines = [table.columns.map((column) => cell(column.title)), ...table.rows.map((row) => row.map(cell))];
  return lines.map((line) => line.join(",")).join("\r\n") + "\r\n";
}
