// What readers have chosen (order, filters, baselines, zooms, open parts), behind the # of the page's address, so that the
// address shows others the same: "#part-1-record&part-1-ecdf.z=10,40&t1.s=-latency_p50". A place of the page comes first.
const chosen = new Map<string, string>();
const watchers: (() => void)[] = [];
const soon = new Map<string, string | null>();  // chosen, not yet written
let place = "";
let wait = 0;

function parsed(hash: string): { place: string; chosen: Map<string, string> } {
  const items = hash.replace(/^#/, "").split("&").filter((item) => item !== "");
  const pairs = items.flatMap((item): [string, string][] => {
    const at = item.indexOf("=");
    return at < 0 ? [] : [[decoded(item.slice(0, at)), decoded(item.slice(at + 1))]];
  });
  return { place: decoded(items.find((item) => !item.includes("=")) ?? ""), chosen: new Map(pairs) };
}

// What is no encoding was written by hand.
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const encoded = (text: string): string => encodeURIComponent(text).replace(/%(?:2C|2F|3A)/g, decodeURIComponent);

function written(): string {
  const items = [...(place === "" ? [] : [encoded(place)]), ...[...chosen].map(([key, value]) => `${encoded(key)}=${encoded(value)}`)];
  return items.length === 0 ? "" : `#${items.join("&")}`;
}

function write(): void {
  const { pathname, search } = window.location;
  window.history.replaceState(null, "", written() || `${pathname}${search}`);
}

export function chosenFor(key: string): string | null {
  return chosen.get(key) ?? null;
}

export function choose(key: string, value: string | null): void {
  soon.delete(key);
  if (keep(key, value)) write();
}

// Browsers refuse an address that changes with every turn of a wheel.
export function chooseSoon(key: string, value: string | null): void {
  soon.set(key, value);
  window.clearTimeout(wait);
  wait = window.setTimeout(() => {
    const changes = [...soon].filter(([each, its]) => keep(each, its));
    soon.clear();
    if (changes.length > 0) write();
  }, 200);
}

function keep(key: string, value: string | null): boolean {
  if (value === chosenFor(key)) return false;
  if (value === null) chosen.delete(key);
  else chosen.set(key, value);
  return true;
}

// What was chosen is read again where another address was entered.
export function onAddress(read: () => void): void {
  watchers.push(read);
}

// Before anything is built.
export function readAddress(): void {
  const read = parsed(window.location.hash);
  place = read.place;
  for (const [key, value] of read.chosen) chosen.set(key, value);
}

// After it: where the address leads, and links within the page keep what was chosen.
export function watchAddress(): void {
  showPlace();
  window.addEventListener("hashchange", () => {
    const read = parsed(window.location.hash);
    place = read.place;
    if ([...read.chosen].some(([key, value]) => chosenFor(key) !== value)) {
      chosen.clear();
      soon.clear();
      for (const [key, value] of read.chosen) chosen.set(key, value);
      for (const watcher of watchers) watcher();
    }
    write();
    showPlace();
  });
}

function showPlace(): void {
  // A choice of a place leads there as well: "#part-1-flame=1/1".
  const name = place === "" ? ([...chosen.keys()].find((key) => document.getElementById(key) !== null) ?? "") : place;
  const target = name === "" ? null : document.getElementById(name);
  if (target === null) return;
  for (let folded = target.closest("details"); folded !== null; folded = folded.parentElement?.closest("details") ?? null) folded.open = true;
  target.scrollIntoView();
}

// Parts that are open where they are closed at first, and the other way round, by their number.
export function watchFolds(root: HTMLElement): void {
  const folds = [...root.querySelectorAll("details")];
  const usual = folds.map((fold) => fold.open);
  const read = (): void => {
    const others = new Set((chosenFor("folds") ?? "").split(".").filter((text) => text !== "").map(Number));
    folds.forEach((fold, index) => (fold.open = others.has(index) !== usual[index]));
  };
  read();
  onAddress(read);
  const changed = (): void => {
    if (document.documentElement.dataset["printing"] !== undefined) return;
    choose("folds", folds.flatMap((fold, index) => (fold.open === usual[index] ? [] : [index])).join(".") || null);
  };
  for (const fold of folds) fold.addEventListener("toggle", changed);
}
