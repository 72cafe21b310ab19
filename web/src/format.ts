// Numbers for people: three significant digits unless asked, units picked by size, decimal prefixes (1 MB = 10^6 bytes),
// digit for digit as the console report has them (tests/golden/figures.json). Ranges and columns share one unit.

export const MISSING = "–";

export type Quantity = "s" | "items/s" | "bytes" | "ratio" | "share" | "count" | "plain";

export interface Unit {
  name: string; // as it stands behind the number: "ms"; "" for none
  factor: number; // value in base units = number * factor
}

const units: Record<Quantity, Unit[]> = {
  s: [
    { name: "ns", factor: 1e-9 },
    { name: "µs", factor: 1e-6 },
    { name: "ms", factor: 1e-3 },
    { name: "s", factor: 1 },
  ],
  bytes: [
    { name: "B", factor: 1 },
    { name: "kB", factor: 1e3 },
    { name: "MB", factor: 1e6 },
    { name: "GB", factor: 1e9 },
    { name: "TB", factor: 1e12 },
  ],
  "items/s": [
    { name: "/s", factor: 1 },
    { name: "k/s", factor: 1e3 },
    { name: "M/s", factor: 1e6 },
    { name: "G/s", factor: 1e9 },
  ],
  ratio: [{ name: "×", factor: 1 }],
  share: [{ name: "%", factor: 0.01 }],
  count: [{ name: "", factor: 1 }],
  plain: [{ name: "", factor: 1 }],
};

// The largest unit in which the value is at least 1.
export function unitFor(quantity: Quantity, value: number): Unit {
  const known = units[quantity];
  const size = Math.abs(value);
  let picked = known[0] as Unit;
  for (const unit of known) {
    if (size >= unit.factor * 0.9995) picked = unit;
  }
  return picked;
}

// Of the units that the document has: "1/s" is of requests and of tokens.
export function quantityOf(unit: string): Quantity {
  if (unit === "s" || unit === "items/s" || unit === "bytes" || unit === "share") return unit;
  return unit === "1/s" ? "items/s" : "plain";
}

// One unit for all of them: that of the median magnitude.
export function unitForAll(quantity: Quantity, values: Iterable<number | null | undefined>): Unit {
  const sizes = new Float64Array([...values].flatMap((value) => (typeof value === "number" && Number.isFinite(value) && value !== 0 ? Math.abs(value) : []))).sort();
  return unitFor(quantity, sizes[Math.floor(sizes.length / 2)] ?? 0);
}

// "0.00213", "20.3", "12345", "1.2e-7".
export function digits(value: number, significant = 3): string {
  if (!Number.isFinite(value)) return MISSING;
  if (value === 0) return "0";
  // 0.9999 is "1.00", as 1 is: the digits are counted after rounding.
  const size = Math.abs(Number(value.toPrecision(significant)));
  if (size >= 1e15 || size < 1e-5) return value.toExponential(significant - 1).replace("e+", "e");
  return inFull(value, significant);
}

// Without an exponent, whatever the size.
function inFull(value: number, significant: number): string {
  if (value === 0) return "0";
  const size = Math.abs(Number(value.toPrecision(significant)));
  const decimals = Math.max(0, significant - 1 - Math.floor(Math.log10(size) + 1e-12));
  return fixed(value, Math.min(decimals, 12));
}

// As C's printf: what lies exactly between two goes to the even one, where toFixed goes to the larger.
export function fixed(value: number, decimals: number): string {
  const text = value.toFixed(decimals);
  const halves = Math.abs(value) * 2 ** (decimals + 1);
  const isBetween = decimals < 20 && halves < 2 ** 53 && Number.isInteger(halves) && halves % 2 === 1;
  if (!isBetween || Number(text.at(-1)) % 2 === 0) return text;
  return (value - Math.sign(value) * 0.5 * 10 ** -decimals).toFixed(decimals);
}

// Thousands apart, from 10,000 on.
function grouped(text: string): string {
  const [whole = "", fraction] = text.split(".");
  const apart = whole.replace("-", "").length > 4 ? whole.replace(/\B(?=(\d{3})+$)/g, ",") : whole;
  return fraction === undefined ? apart : `${apart}.${fraction}`;
}

export function inUnit(value: number | null | undefined, unit: Unit, significant = 3): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return MISSING;
  if (unit.name === "B") return fixed(value, 0); // below a kilobyte there are whole bytes only
  return unit.name === "" ? digits(value, significant) : inFull(value / unit.factor, significant);
}

// Marks of an axis lie close together: as many digits as it takes to tell them apart.
export function tick(value: number, unit: Unit): string {
  return grouped(String(Number((value / unit.factor).toPrecision(6))));
}

export function withUnit(text: string, unit: Unit): string {
  if (unit.name === "" || text === MISSING) return text;
  return unit.name === "×" || unit.name === "/s" ? `${text}${unit.name}` : `${text} ${unit.name}`; // "950/s", "1.20 k/s"
}

export function format(quantity: Quantity, value: number | null | undefined, significant = 3): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return MISSING;
  const unit = unitFor(quantity, value);
  return withUnit(inUnit(value, unit, significant), unit);
}

// Enough digits that low and high differ: "[19.4, 21.2]".
export function interval(low: number, high: number, unit: Unit): string {
  const significant = intervalDigits(low, high, unit);
  return `[${inUnit(low, unit, significant)}, ${inUnit(high, unit, significant)}]`;
}

// Wider than a hundred times the value, as on the console: two processes that differ by chance.
export function isUninformative(value: number, low: number, high: number): boolean {
  return value !== 0 && !(high - low <= 100 * Math.abs(value));
}

export const tooFew = "[too few to tell]";

// How many digits that takes: as many has the value that stands beside it.
export function intervalDigits(low: number, high: number, unit: Unit): number {
  for (let significant = 3; significant < 7; significant += 1) {
    if (low === high || inUnit(low, unit, significant) !== inUnit(high, unit, significant)) return significant;
  }
  return 7;
}

// A difference of natural logarithms as a change in per cent: 0.0953 is "+10 %".
export function logChange(difference: number | null | undefined, significant = 3): string {
  if (difference === null || difference === undefined || !Number.isFinite(difference)) return MISSING;
  return signed(Math.expm1(difference) * 100, significant) + " %";
}

export function signed(value: number, significant = 3): string {
  if (!Number.isFinite(value)) return MISSING;
  const text = digits(Math.abs(value), significant);
  return value < 0 ? `−${text}` : value > 0 ? `+${text}` : text;
}

export function percent(share: number | null | undefined, significant = 3): string {
  if (share === null || share === undefined || !Number.isFinite(share)) return MISSING;
  return `${digits(share * 100, significant)} %`;
}

// Of what was asked for, as it was given: "1 %", "0.5 %".
export function givenPercent(share: number): string {
  return `${Number((share * 100).toPrecision(4))} %`;
}

export function probability(p: number): string {
  return p < 0.001 ? "<0.001" : fixed(p, 3);
}

export function count(value: number, one: string, many: string): string {
  return `${grouped(String(value))} ${value === 1 ? one : many}`;
}

export function whole(value: number | null | undefined): string {
  return value === null || value === undefined ? MISSING : grouped(String(Math.round(value)));
}

const parts: readonly (readonly [number, string])[] = [
  [86400, "d"],
  [3600, "h"],
  [60, "min"],
  [1, "s"],
];

// "4.2 s", "3 min 20 s", "2 d 7 h"
export function duration(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined || !Number.isFinite(seconds) || seconds < 0) return MISSING;
  if (seconds < 9.95) return `${fixed(seconds, 1)} s`;
  const whole = Math.round(seconds);
  for (const [index, [size, name]] of parts.entries()) {
    const next = parts[index + 1];
    if (next === undefined || whole < size) continue;
    const rest = Math.floor((whole % size) / next[0]);
    return `${Math.floor(whole / size)} ${name}${rest === 0 ? "" : ` ${rest} ${next[1]}`}`;
  }
  return `${whole} s`;
}

// "2026-11-22 01:41 UTC"
export function when(iso: string): string {
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(iso) ? `${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC` : iso;
}

// "[0, 1, 12, 34], row 12, column 34", as the engine has it.
export function placeText(at: readonly (number | string)[]): string {
  return `[${at.join(", ")}], row ${at[at.length - 2]}, column ${at[at.length - 1]}`;
}
