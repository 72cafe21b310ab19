// Elements are made here and nowhere else: text goes in as text, never as markup.

export type Child = Node | string | null;

export interface Attributes {
  class?: string | undefined;
  [name: string]: string | number | boolean | ((event: Event) => void) | undefined;
}

// el("button", { type: "button", onclick: () => … }, "Copy"): a function is a listener, true an empty attribute, false
// and undefined none.
export function el<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(name);
  setAttributes(element, attributes);
  append(element, children);
  return element;
}

export function svg(name: string, attributes: Attributes = {}, ...children: Child[]): SVGElement {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  setAttributes(element, attributes);
  append(element, children);
  return element;
}

function setAttributes(element: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name.replace(/^on/, ""), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
}

function append(element: Element, children: Child[]): void {
  for (const child of children) {
    if (child !== null) element.append(child);
  }
}

// Text from outside, on a line of its own direction: right-to-left names do not turn their surroundings around.
export function name(text: string, title?: string): HTMLElement {
  return el("bdi", { class: "name", title }, visible(text));
}

// A sentence from outside: no line breaks between a number and its unit, nor in an option or a date.
export function prose(text: string, title?: string): HTMLElement {
  const joined = visible(text.replace(/(\d) (%|[nµm]s|s|min|h|[kMGT]?B|× )(?![\p{L}\d])/gu, "$1\u00a0$2"));
  const pieces = joined.split(/(?<![\w-])(--[a-z][a-z-]*|\d{4}-\d\d-\d\d(?![\w-]))/u);
  return el("bdi", { class: "name", title }, ...pieces.map((piece, index) => (index % 2 === 1 ? el("span", { class: "whole" }, piece) : piece)));
}

// Controls, bidi marks and invisible characters are shown as \u{…}, as the terminal shows them. Newlines and tabs too,
// unless `lines` is set.
export function visible(text: string, lines = false): string {
  const steering = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\u2028\u2029]/gu;
  return text.replace(steering, (character) =>
    lines && (character === "\n" || character === "\t") ? character : `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
}

// Cut in the middle: names often differ at their ends. Not between the halves of a character.
export function shortened(text: string, characters: number): string {
  const all = Array.from(text);
  const most = Math.max(3, Math.floor(characters));
  if (all.length <= most) return text;
  const head = Math.ceil((most - 1) / 2);
  return `${all.slice(0, head).join("")}…${all.slice(all.length - (most - 1 - head)).join("")}`;
}

let ids = 0;
export function freshId(prefix: string): string {
  ids += 1;
  return `${prefix}-${ids}`;
}

// Says something to readers of the screen, and shows it for a moment.
export function announce(text: string): void {
  const place = document.getElementById("announcements");
  if (place === null) return;
  place.textContent = text;
  place.classList.add("shown");
  window.setTimeout(() => place.classList.remove("shown"), 2500);
}

export function download(fileName: string, content: Blob): void {
  const address = URL.createObjectURL(content);
  const link = el("a", { href: address, download: fileName });
  document.body.append(link);
  link.click();
  link.remove();
  window.setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

// From file:// the clipboard's own interface can be refused: then by a selection, as long as browsers have that.
export async function copy(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = el("textarea", { class: "off-screen", "aria-hidden": "true" });
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    if (!done) {
      announce(`${what} could not be copied: the browser refuses`);
      return;
    }
  }
  announce(`${what} copied`);
}

// What `actOf` gives for a key without Ctrl, Alt or Meta is done instead of what the browser would do.
export function onPlainKeys(element: Element | null, actOf: (event: KeyboardEvent) => (() => void) | undefined): void {
  element?.addEventListener("keydown", (pressed) => {
    const event = pressed as KeyboardEvent;
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const act = actOf(event);
    if (act === undefined) return;
    event.preventDefault();
    act();
  });
}
