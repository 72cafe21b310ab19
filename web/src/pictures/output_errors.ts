// The largest difference of each output against what is allowed and what the baseline differs from itself by.
import type { Validation } from "../document.ts";
import { visible } from "../dom.ts";
import type { Option } from "../echarts.ts";
import { count, digits, MISSING, whole } from "../format.ts";
import type { Look, SeriesLook } from "../look.ts";
import { axis, tooltip } from "../picture.ts";
import type { ChartPicture, DataTable, Picture } from "../picture.ts";
import { logScale } from "./log_scale.ts";
import { box, marks } from "./marks.ts";

type Output = Validation["outputs"][number];

const most = 100; // rows

export function outputErrors(validation: Validation): Picture[] {
  const there = validation.outputs.filter((output) => output.difference.max_absolute !== null);
  return there.length === 0 ? [] : [picture(validation, there)];
}

function picture(validation: Validation, there: Output[]): ChartPicture {
  const drawn = there.slice(0, most);
  const missing = validation.outputs.length - there.length;
  return {
    kind: "chart",
    id: "outputs",
    title: "Error of each output against what is allowed",
    reads:
      "A bar is the largest |difference| of an output over all samples, on a logarithmic axis. The tick is what is allowed: a bar that " +
      "passes it fails. The dot is what the baseline differs from itself by.",
    note: () =>
      [
        missing > 0 ? `${count(missing, "output has", "outputs have")} no error to draw: the data says why.` : "",
        there.length > most ? `The first ${most} of ${there.length} outputs are drawn.` : "",
        there.some((output) => output.difference.max_absolute === 0) ? "An output without a bar is the same in both." : "",
      ]
        .filter((sentence) => sentence !== "")
        .join(" "),
    height: () => 70 + 34 * drawn.length,
    zoom: drawn.length > 20 ? "y" : "none",
    option: (look, width) => option(drawn, look, width),
    legend: (look) => [
      { name: "Within tolerance", look: within(look) },
      { name: "Beyond it", look: beyond(look) },
      { name: "Allowed", look: allowed(look) },
      { name: "Floor", look: floor(look) },
    ].filter((item) => item.name !== "Beyond it" || drawn.some((output) => !output.difference.within_tolerance)),
    data: () => data(validation.outputs),
  };
}

const within = (look: Look): SeriesLook => ({ ...look.series(0), symbol: "roundRect", dash: "solid" });
const beyond = (look: Look): SeriesLook => ({ color: look.bad, symbol: "rect", dash: "solid" });
const allowed = (look: Look): SeriesLook => ({ color: look.text, symbol: "rect", dash: "solid" });
const floor = (look: Look): SeriesLook => ({ color: look.muted, symbol: "circle", dash: "dotted" });

// The word behind each bar shows what its colour shows.
function option(outputs: Output[], look: Look, width: number): Option {
  const scale = logScale([0, ...outputs.flatMap((output) => [output.difference.max_absolute, output.allowed, output.floor])]);
  const left = Math.min(220, Math.max(80, width * 0.28));
  const rows = outputs.map((output, index) => ({ output, index }));
  const bars = (name: string, style: SeriesLook, agrees: boolean): Option =>
    marks(
      name,
      rows.filter(({ output }) => output.difference.within_tolerance === agrees && (output.difference.max_absolute ?? 0) > 0),
      ({ output, index }) => [scale.place(output.difference.max_absolute ?? 0), index],
      ({ output, index }, place) => {
        const [from, to] = [place(scale.low, index), place(scale.place(output.difference.max_absolute ?? 0), index)];
        return [box(from.x, from.y - 7, to.x, from.y + 7, { fill: style.color })];
      },
      null,
      { z: 2, silent: false },
    );
  const points = (name: string, style: SeriesLook, symbol: string, symbolSize: number | number[], value: (output: Output) => number | null): Option => ({
    type: "scatter",
    name,
    symbol,
    symbolSize,
    itemStyle: { color: style.color, borderColor: look.panel, borderWidth: 1 },
    data: rows.flatMap(({ output, index }) => {
      const at = value(output);
      return at === null ? [] : [[scale.place(at), index]];
    }),
    z: 4,
  });
  return {
    grid: { left: left + 10, right: width < 500 ? 16 : 110, top: 8, bottom: 48 },
    tooltip: { trigger: "axis", axisPointer: { type: "shadow" }, formatter: (hits: { value: number[] }[]) => tip(outputs[hits[0]?.value[1] ?? 0]) },
    xAxis: axis(look, "largest |difference|", scale.axis(look)),
    yAxis: axis(look, "", {
      type: "category",
      inverse: true,
      data: outputs.map((output) => visible(output.difference.name)),
      axisLabel: { color: look.text, fontSize: 12, width: left, overflow: "truncate", interval: 0, hideOverlap: false },
      splitLine: { show: false },
    }),
    series: [
      bars("Within tolerance", within(look), true),
      bars("Beyond it", beyond(look), false),
      points("Floor", floor(look), "circle", 8, (output) => output.floor),
      points("Allowed", allowed(look), "rect", [5, 24], (output) => output.allowed),
      ...(width < 500 ? [] : [verdicts(outputs, scale.high, look)]),
    ],
  };
}

function verdicts(outputs: Output[], high: number, look: Look): Option {
  return {
    type: "scatter",
    silent: true,
    symbolSize: 0.1,
    data: outputs.map((output, index) => ({
      value: [high, index],
      label: {
        show: true,
        position: "right",
        distance: 10,
        fontSize: 12,
        color: !output.difference.within_tolerance ? look.bad : output.difference.undecided === "" ? look.good : look.warning,
        formatter: !output.difference.within_tolerance ? "✗ beyond" : output.difference.undecided !== "" ? "? undecided" : output.difference.max_absolute === 0 ? "✓ the same" : "✓ within",
      },
    })),
  };
}

function tip(output: Output | undefined): HTMLElement {
  if (output === undefined) return tooltip("", []);
  const shown = (value: number | null): string => (value === null ? MISSING : digits(value));
  const { difference } = output;
  return tooltip(difference.name.slice(0, 100), [
    ["", difference.within_tolerance ? "within tolerance" : "beyond tolerance"],
    ["largest |difference|", shown(difference.max_absolute)],
    ["allowed", shown(output.allowed)],
    ["the baseline against itself", shown(output.floor)],
    ["mean |difference|", shown(difference.mae)],
    ["relative L2", shown(difference.relative_l2)],
    ["cosine", shown(difference.cosine)],
    ["beyond tolerance", `${whole(difference.mismatched)} of ${whole(difference.element_count)}`],
    ["type", `${difference.dtype} [${difference.shape.join(", ")}]`],
  ]);
}

function data(outputs: Output[]): DataTable {
  const text = (title: string): { title: string; numeric: boolean } => ({ title, numeric: false });
  const number = (title: string): { title: string; numeric: boolean } => ({ title, numeric: true });
  return {
    columns: [
      text("output"), text("tolerance"), number("largest |difference|"), number("allowed"), number("the baseline against itself"), number("mean |difference|"),
      number("root mean square"), number("relative L2"), number("cosine"), number("PSNR, dB"), number("elements beyond tolerance"), number("elements"), text("why not compared"),
    ],
    rows: outputs.map(({ allowed: bound, floor: own, difference: d }) => [
      d.name, d.comparable ? (d.within_tolerance ? "within" : "beyond") : null, d.max_absolute, bound, own, d.mae, d.rmse, d.relative_l2, d.cosine, d.psnr_db,
      d.mismatched, d.element_count, d.reason === "" ? null : d.reason,
    ]),
  };
}
