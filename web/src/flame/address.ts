// What a graph shows, behind the # of the page's address: "#part-1-flame=0/3/17". Going back to all leaves none.

const separator = "=";

export function readAddress(id: string): string[] | null {
  const [of, state, ...more] = window.location.hash.slice(1).split(separator);
  return of === id && state !== undefined && more.length === 0 ? state.split("/") : null;
}

export function writeAddress(id: string, state: string[] | null): void {
  const own = readAddress(id) !== null;
  if (state === null && !own) return;
  const { pathname, search } = window.location;
  window.history.replaceState(null, "", state === null ? `${pathname}${search}` : `#${id}${separator}${state.join("/")}`);
}
