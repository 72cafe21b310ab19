// The subject under the pointer or with the focus is marked in every chart and table of its part. Subjects are indices
// into run.subjects.
type Mark = (subject: number | null) => void;

const marks = new Map<string, Mark[]>(); // by part
const marked = new Map<string, number | null>();

export function onHover(part: string, mark: Mark): void {
  marks.set(part, [...(marks.get(part) ?? []), mark]);
}

export function hover(part: string, subject: number | null): void {
  if ((marked.get(part) ?? null) === subject) return;
  marked.set(part, subject);
  for (const mark of marks.get(part) ?? []) mark(subject);
}

// An element that stands for a subject.
export function touch(element: HTMLElement, part: string, subject: number): void {
  element.dataset["subject"] = String(subject);
  for (const event of ["pointerenter", "focusin"]) element.addEventListener(event, () => hover(part, subject));
  for (const event of ["pointerleave", "focusout"]) element.addEventListener(event, () => hover(part, null));
}

// Marks those elements of a table that stand for the subject.
export function markIn(root: HTMLElement, part: string): void {
  onHover(part, (subject) => {
    for (const element of root.querySelectorAll<HTMLElement>("[data-subject]")) element.classList.toggle("linked", element.dataset["subject"] === String(subject));
  });
}
