// Pictures as files. A file has no page around it: a chart's title and legend are in the drawing.
import { el, shortened, visible } from "./dom.ts";
import { init } from "./echarts.ts";
import type { Option } from "./echarts.ts";
import { paintScene, sceneSvg } from "./flame/scene.ts";
import type { Scene } from "./flame/scene.ts";
import type { Look } from "./look.ts";
import type { ChartPicture, LegendItem } from "./picture.ts";
import type { PlanesView } from "./pictures/planes_view.ts";
import { swatchPath } from "./signs.ts";

export type Format = "svg" | "png";

// `option` is the page's.
export function saveChart(picture: ChartPicture, option: Option, look: Look, width: number, height: number, format: Format, done: (content: Blob) => void): void {
  const items = picture.legend?.(look) ?? [];
  const head = headHeight(items, width);
  const size = { width, height: height + head };
  const alone = withHead(option, picture.title, items, head, look);
  if (format === "svg") {
    const chart = init(null, null, { renderer: "svg", ssr: true, ...size });
    chart.setOption(alone);
    done(new Blob([chart.renderToSVGString()], { type: "image/svg+xml" }));
    chart.dispose();
    return;
  }
  const canvas = el("canvas");
  const chart = init(canvas, null, { renderer: "canvas", ...size, devicePixelRatio: 2 });
  chart.setOption(alone);
  (chart.getRenderedCanvas({ pixelRatio: 2 }) as HTMLCanvasElement).toBlob((content) => {
    if (content !== null) done(content);
    chart.dispose();
  }, "image/png");
}

// What the page has around a chart.
function withHead(option: Option, title: string, items: LegendItem[], head: number, look: Look): Option {
  return {
    ...option,
    backgroundColor: look.panel,
    legend: {
      ...(option["legend"] as Option),
      show: items.length > 1,
      top: 34,
      type: "plain",
      textStyle: { color: look.text },
      data: items.map((item) => legendEntry(item, option)),
      formatter: (text: string) => shortened(text, 30),
    },
    title: { text: title, left: 12, top: 8, textStyle: { color: look.text, fontSize: 15, fontWeight: 600 } },
    grid: lowered((option["grid"] ?? {}) as Option | Option[], head),
  };
}

// Of title and legend, with about as many names in a row as ECharts sets.
function headHeight(items: LegendItem[], width: number): number {
  if (items.length < 2) return 34;
  let [rows, used] = [1, 0];
  for (const item of items) {
    const needed = 45 + 7.3 * Math.min(30, item.name.length);
    if (used + needed > width - 20) [rows, used] = [rows + 1, 0];
    used += needed;
  }
  return 42 + 24 * rows;
}

// As on the page: what ECharts draws for a line knows nothing of symbols that only some of its points have.
function legendEntry(item: LegendItem, option: Option): Option {
  const series = (option["series"] ?? []) as Option[];
  const of = series.find((each) => each["name"] === item.name);
  const { color, symbol } = item.look;
  return { name: item.name, itemStyle: { color }, icon: of?.["type"] === "line" ? `path://${swatchPath(item.look)}` : symbol };
}

function lowered(grid: Option | Option[], by: number): Option | Option[] {
  const one = (each: Option): Option => ({ ...each, top: (typeof each["top"] === "number" ? each["top"] : 24) + by });
  return Array.isArray(grid) ? grid.map(one) : one(grid);
}

const svgSpace = "http://www.w3.org/2000/svg";

export function savePlanes(view: PlanesView, title: string, look: Look, width: number, height: number, format: Format, done: (content: Blob) => void): void {
  const canvas = el("canvas");
  view.paint(canvas, look, width, height, 2);
  if (format === "png") {
    canvas.toBlob((content) => content !== null && done(content), "image/png");
    return;
  }
  // In a document of its own, where the image is text: the page's policy lets none be loaded.
  const file = document.implementation.createDocument(svgSpace, "svg", null);
  const add = (parent: Element, tag: string, attributes: Record<string, string>): Element => {
    const child = parent.appendChild(file.createElementNS(svgSpace, tag));
    for (const [key, value] of Object.entries(attributes)) child.setAttribute(key, value);
    return child;
  };
  const size = { width: String(width), height: String(height) };
  for (const [key, value] of Object.entries({ ...size, viewBox: `0 0 ${width} ${height}` })) file.documentElement.setAttribute(key, value);
  add(file.documentElement, "title", {}).textContent = visible(title);
  add(file.documentElement, "image", { ...size, href: canvas.toDataURL("image/png") });
  done(new Blob([new XMLSerializer().serializeToString(file)], { type: "image/svg+xml" }));
}

export function saveScene(scene: Scene, title: string, look: Look, format: Format, done: (content: Blob) => void): void {
  if (format === "svg") {
    done(new Blob([new XMLSerializer().serializeToString(sceneSvg(scene, title, look))], { type: "image/svg+xml" }));
    return;
  }
  const canvas = el("canvas");
  canvas.width = scene.width * 2;
  canvas.height = scene.height * 2;
  paintScene(scene, canvas, look, 2);
  canvas.toBlob((content) => content !== null && done(content), "image/png");
}
