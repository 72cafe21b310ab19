// What a gate expects, what was measured, and how that is judged.
import type { Gate } from "../document.ts";
import { count, format, interval, MISSING, percent, unitFor, withUnit } from "../format.ts";
import type { Quantity } from "../format.ts";
import { toneOf, wordOf } from "../signs.ts";
import { grid } from "./grid.ts";

type Judged = Gate["verdicts"][number];

const quantities: Record<string, Quantity> = { s: "s", bytes: "bytes", "items/s": "items/s", x: "ratio", share: "share", "": "plain" };

// Expectations are of different quantities: each has a unit of its own, shared by what it is compared with.
export function figureText(judged: Judged): { value: string; interval: string; threshold: string } {
  const quantity = quantities[judged.unit] ?? "plain";
  const unit = unitFor(quantity, judged.value ?? judged.threshold ?? 0);
  const own = quantities[judged.unit] === undefined ? { name: judged.unit, factor: 1 } : unit;
  const text = (value: number | null): string => (quantity === "share" ? percent(value) : own.name === unit.name ? format(quantity, value) : value === null ? MISSING : withUnit(format("plain", value), own));
  const relation = judged.relation === null ? "" : `${judged.relation.replace("<=", "≤").replace(">=", "≥")} `;
  return {
    value: text(judged.value),
    interval: judged.interval === null ? "" : withUnit(interval(judged.interval.low, judged.interval.high, own), own),
    threshold: judged.threshold === null ? MISSING : `${relation}${text(judged.threshold)}`,
  };
}

function sampleOf({ n, n_of: of }: Judged): string {
  return count(n, of.replace(/s$/, ""), of);
}

export function gateTable(gate: Gate): HTMLElement | null {
  if (gate.verdicts.length === 0) return null;
  const baseline = gate.baseline === null ? "" : ` Regressions are against baseline ${gate.baseline.name} (run ${gate.baseline.run}).`;
  const order = ["fail", "inconclusive", "pass", "none"];
  return grid<Judged>({
    caption: `Expectations of ${gate.gate}: ${gate.passed} passed, ${gate.failed} failed, ${gate.inconclusive} inconclusive`,
    columns: [
      { kind: "text", id: "expectation", title: "expectation", text: (row) => row.expectation, code: true },
      { kind: "text", id: "subject", title: "subject", text: (row) => row.subject },
      { kind: "text", id: "outcome", title: "outcome", text: (row) => wordOf[row.outcome], tone: (row) => toneOf[row.outcome], order: (row) => order.indexOf(row.outcome) },
      {
        kind: "text", id: "value", title: "measured", text: (row) => figureText(row).value, order: (row) => row.value,
        sub: (row) => [figureText(row).interval, row.n > 0 ? `n = ${sampleOf(row)}` : row.exact ? "exact" : ""].filter((each) => each !== "").join(", "),
      },
      { kind: "text", id: "threshold", title: "bound", text: (row) => figureText(row).threshold, order: (row) => row.threshold },
      { kind: "text", id: "reason", title: "reason", text: (row) => [row.reason, ...row.notes].join("; ") },
    ],
    rows: [...gate.verdicts].sort((a, b) => order.indexOf(a.outcome) - order.indexOf(b.outcome)),
    groupings: [
      { id: "subject", label: "subject", key: (row) => row.subject },
      { id: "outcome", label: "outcome", key: (row) => wordOf[row.outcome] },
      { id: "expectation", label: "expectation", key: (row) => row.expectation },
    ],
    ...(baseline === "" ? {} : { legend: baseline.trim() }),
  });
}
