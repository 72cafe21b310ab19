// Numbers for people: three significant digits unless asked, units picked by size, decimal prefixes (1 MB = 10^6 bytes),
// as the console report has them. Ranges and columns share one unit.

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
    { name: "min", factor: 60 },
  ],
  bytes: [
    { name: "B", factor: 1 },
    { name: "kB", factor: 1e3 },
    { name: "MB", factor: 1e6 },
    { name: "GB", factor: 1e9 },
    { name: "TB", factor: 1e12 },
  ],
  "items/s": [{ name: "/s", factor: 1 }],
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
    if (unit.name === "min" ? size >= 180 : size >= unit.factor * 0.9995) picked = unit;
  }
  return picked;
}

// One unit for all of them: that of the median magnitude.
export function unitForAll(quantity: Quantity, values: Iterable<number | null | undefined>): Unit {
  const sizes = new Float64Array([...values].flatMap((value) => (typeof value === "number" && Number.isFinite(value) && value !== 0 ? Math.abs(value) : []))).sort();
  return unitFor(quantity, sizes[Math.floor(sizes.length / 2)] ?? 0);
}

// "0.00213", "20.3", "12,300", "1.2e-7".
export function digits(value: number, significant = 3): string {
  if (!Number.isFinite(value)) return MISSING;
  if (value === 0) return "0";
  // 0.9999 is "1.00", as 1 is: the digits are counted after rounding.
  const size = Math.abs(Number(value.toPrecision(significant)));
  if (size >= 1e15 || size < 1e-5) return value.toExponential(significant - 1).replace("e+", "e");
  const decimals = Math.max(0, significant - 1 - Math.floor(Math.log10(size) + 1e-12));
  return grouped(value.toFixed(Math.min(decimals, 20)));
}

// Thousands apart, from 10,000 on.
function grouped(text: string): string {
  const [whole = "", fraction] = text.split(".");
  const apart = whole.replace("-", "").length > 4 ? whole.replace(/\B(?=(\d{3})+$)/g, ",") : whole;
  return fraction === undefined ? apart : `${apart}.${fraction}`;
}

export function inUnit(value: number | null | undefined, unit: Unit, significant = 3): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return MISSING;
  return digits(value / unit.factor, significant);
}

// Marks of an axis lie close together: as many digits as it takes to tell them apart.
export function tick(value: number, unit: Unit): string {
  return grouped(String(Number((value / unit.factor).toPrecision(6))));
}

export function withUnit(text: string, unit: Unit): string {
  if (unit.name === "" || text === MISSING) return text;
  return unit.name === "×" || unit.name === "/s" ? `${text}${unit.name}` : `${text} ${unit.name}`;
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

export function probability(p: number): string {
  return p < 0.001 ? "<0.001" : p.toFixed(3);
}

export function count(value: number, one: string, many: string): string {
  return `${grouped(String(value))} ${value === 1 ? one : many}`;
}

export function whole(value: number | null | undefined): string {
  return value === null || value === undefined ? MISSING : grouped(String(Math.round(value)));
}

export function duration(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return MISSING;
  if (seconds < 60) return format("s", seconds);
  const rounded = Math.round(seconds);
  const hours = Math.floor(rounded / 3600);
  const minutes = Math.floor((rounded % 3600) / 60);
  return hours > 0 ? `${hours} h ${minutes} min` : `${minutes} min ${rounded % 60} s`;
}

// "2026-11-22 01:41 UTC"
export function when(iso: string): string {
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(iso) ? `${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC` : iso;
}
