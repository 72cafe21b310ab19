// How series look: a colour, a symbol and a dash each, so that nothing is reported by colour alone.

export interface SeriesLook {
  color: string;
  symbol: "circle" | "rect" | "triangle" | "diamond" | "roundRect" | "pin" | "arrow";
  dash: "solid" | "dashed" | "dotted" | number[];
}

export interface Look {
  dark: boolean;
  text: string;
  muted: string;
  line: string; // of axes and grids
  panel: string; // what pictures stand on
  good: string;
  warning: string;
  bad: string;
  accent: string;
  font: string;
  series(index: number): SeriesLook;
}

// Found by search: as far apart as eight colours get for readers with protanopia, deuteranopia and tritanopia without
// growing alike for others, and 3:1 against the panel (test/look.test.ts holds both).
export const lightSeries = ["#055bcb", "#e47422", "#2da398", "#55108a", "#a9377d", "#67670d", "#be70f5", "#77190a"];
export const darkSeries = ["#4ea9ff", "#ca440d", "#5dfefb", "#8950c7", "#fd9ca7", "#9cad13", "#f1ec46", "#0f8679"];
const symbols = ["circle", "rect", "triangle", "diamond", "roundRect", "pin", "arrow"] as const;
const dashes: SeriesLook["dash"][] = ["solid", "dashed", "dotted", [8, 3, 2, 3]];

// Colours come round after eight, symbols after seven and dashes with each round: 224 series differ in something.
export function seriesLook(colors: string[], index: number): SeriesLook {
  const round = Math.floor(index / colors.length);
  return {
    color: colors[index % colors.length] as string,
    symbol: symbols[index % symbols.length] as SeriesLook["symbol"],
    dash: dashes[(index + round) % dashes.length] as SeriesLook["dash"],
  };
}

export type Theme = "auto" | "light" | "dark";

let printing = false;
export function setPrinting(on: boolean): void {
  printing = on;
}

// Pictures are drawn for the narrowest paper, A4 between its margins, in CSS pixels.
const paperWidth = 680;
export function widthOnPaper(): number | null {
  return printing ? paperWidth : null;
}

export function isDark(): boolean {
  if (printing) return false;
  if (window.matchMedia("(forced-colors: active)").matches) return window.matchMedia("(prefers-color-scheme: dark)").matches;
  const chosen = document.documentElement.dataset["theme"];
  if (chosen === "light" || chosen === "dark") return chosen === "dark";
  return window.matchMedia("(prefers-color-scheme: dark)").matches;
}

// The page's own colours, from its style sheet.
export function currentLook(): Look {
  const style = getComputedStyle(document.documentElement);
  const color = (variable: string): string => style.getPropertyValue(variable).trim();
  const dark = isDark();
  return {
    dark,
    text: color("--text"),
    muted: color("--muted"),
    line: color("--line"),
    panel: color("--panel"),
    good: color("--good"),
    warning: color("--warning"),
    bad: color("--bad"),
    accent: color("--accent"),
    font: style.fontFamily.replaceAll('"', "'"), // ECharts writes it into an attribute as it is
    series: (index) => seriesLook(dark ? darkSeries : lightSeries, index),
  };
}
