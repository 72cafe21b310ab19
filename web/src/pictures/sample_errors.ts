// The error of every sample, by a measure and of an output that the reader chooses.
import { sampleFigures } from "../difference_figures.ts";
import type { SampleFigures } from "../difference_figures.ts";
import type { OutputDifference, Validation, ValidationSample } from "../document.ts";
import { visible } from "../dom.ts";
import type { Option } from "../echarts.ts";
import { count, digits, MISSING, whole } from "../format.ts";
import type { Look } from "../look.ts";
import { axis, tooltip } from "../picture.ts";
import type { ChartPicture, DataTable, Picture } from "../picture.ts";
import { logScale } from "./log_scale.ts";
import { line, marks } from "./marks.ts";
import { byStretches } from "./thin.ts";

interface Measure {
  name: keyof SampleFigures | "max_absolute";
  label: string;
  likeness: boolean; // more is better, and the axis is linear
}

const measures: Measure[] = [
  { name: "max_absolute", label: "largest |difference|", likeness: false },
  ...sampleFigures.map(({ id, measure, unit, likeness }) => ({ name: id, label: unit === "dB" ? `${measure}, dB` : measure, likeness })),
];

const named = 3; // worst samples with their names
const most = 2000; // points

type Output = Validation["outputs"][number];

// A line across the whole grid, with its words at the right end.
interface Rule {
  value: number;
  text: string;
  color: string;
  dash: "solid" | "dashed";
  below?: boolean; // its words
}

export function sampleErrors(validation: Validation): Picture[] {
  const { samples } = validation;
  const known = measures.filter((measure) => samples.some((sample) => sample[measure.name] !== null));
  const [measure] = known;
  if (measure === undefined) return [];
  return [new SampleErrors(validation, known, measure).picture()];
}

class SampleErrors {
  private output = 0;
  private readonly outputs: Output[];

  constructor(
    private readonly validation: Validation,
    private readonly known: Measure[],
    private measure: Measure,
  ) {
    const there = new Set(validation.samples.map((sample) => sample.output));
    this.outputs = validation.outputs.filter((each) => there.has(each.difference.name));
  }

  picture(): ChartPicture {
    return {
      kind: "chart",
      id: "samples",
      title: "Error of each sample",
      reads:
        "A point is a sample: how far the candidate's output is from the baseline's. Errors are on a logarithmic axis, likenesses " +
        "(cosine, correlation, PSNR, SSIM) on a linear one. The worst samples have their names.",
      note: () => this.note(),
      controls: [
        {
          label: "Measure",
          choices: this.known.map((each) => ({ value: each.name, label: each.label })),
          value: this.measure.name,
          change: (value) => {
            this.measure = this.known.find((each) => each.name === value) ?? this.measure;
          },
        },
        ...(this.outputs.length < 2 ? [] : [this.outputControl()]),
      ],
      height: () => 360,
      option: (look, width) => this.option(look, width),
      legend: (look) => [
        { name: "Within tolerance", look: look.series(0) },
        ...(this.samples().some((sample) => !sample.within_tolerance) ? [{ name: "Beyond it", look: beyondLook(look) }] : []),
      ],
      data: () => this.data(),
    };
  }

  private outputControl(): NonNullable<ChartPicture["controls"]>[number] {
    return {
      label: "Output",
      choices: this.outputs.map((each, index) => ({ value: String(index), label: visible(each.difference.name).slice(0, 60) })),
      value: "0",
      change: (value) => {
        this.output = Number(value);
      },
    };
  }

  private samples(): ValidationSample[] {
    const name = this.outputs[this.output]?.difference.name;
    return this.validation.samples.filter((sample) => name === undefined || sample.output === name);
  }

  private value(sample: ValidationSample): number | null {
    return sample[this.measure.name];
  }

  private drawn(): ValidationSample[] {
    const there = this.samples().filter((sample) => this.value(sample) !== null);
    return byStretches(there.length, (index) => this.value(there[index] as ValidationSample) ?? 0, most).map((index) => there[index] as ValidationSample);
  }

  private note(): string {
    const all = this.samples();
    const there = all.filter((sample) => this.value(sample) !== null);
    const drawn = this.drawn();
    const none = all.length - there.length;
    const why = this.measure.name === "psnr_db" ? "infinite where both sides are equal" : "it is not defined there, or no finite number";
    return [
      none > 0 ? `${count(none, "sample has", "samples have")} no ${this.measure.label.replace(", dB", "")}: ${why}.` : "",
      drawn.length < there.length
        ? `${whole(drawn.length)} of ${whole(there.length)} points are drawn; the smallest and largest of each stretch are kept.`
        : "",
      this.measure.name !== "max_absolute" || this.outputs[this.output]?.allowed !== 0 ? "" : "Nothing is allowed to differ.",
    ]
      .filter((sentence) => sentence !== "")
      .join(" ");
  }

  // What is allowed bounds the largest difference; the baseline's own repetition has every measure.
  private rules(look: Look): Rule[] {
    const output = this.outputs[this.output];
    if (output === undefined) return [];
    const again: OutputDifference | undefined = this.validation.again.outputs.find((each) => each.name === output.difference.name);
    const floor = again === undefined ? null : (again[this.measure.name] as number | null);
    const allowed = this.measure.name === "max_absolute" ? output.allowed : null;
    return [
      ...(allowed !== null && allowed > 0 ? [{ value: allowed, text: `allowed: ${digits(allowed)}`, color: look.bad, dash: "solid" as const }] : []),
      ...(floor !== null ? [{ value: floor, text: `the baseline against itself: ${digits(floor)}`, color: look.muted, dash: "dashed" as const, below: floor > 0 && !this.measure.likeness }] : []),
    ];
  }

  private option(look: Look, width: number): Option {
    const drawn = this.drawn();
    const rules = this.rules(look);
    const scale = logScale([...drawn.map((sample) => this.value(sample)), ...rules.map((rule) => rule.value)]);
    const { likeness } = this.measure;
    const place = (value: number): number => (likeness ? value : scale.place(value));
    const worst = new Set(this.worst(drawn));
    const points = (within: boolean): Option[] =>
      drawn
        .filter((sample) => sample.within_tolerance === within)
        .map((sample) => ({
          value: [sample.item, place(this.value(sample) ?? 0)],
          sample,
          ...(worst.has(sample) ? { label: this.label(sample, look, width) } : {}),
        }));
    const series = (name: string, style: ReturnType<Look["series"]>, within: boolean): Option => ({
      type: "scatter",
      name,
      data: points(within),
      symbol: style.symbol,
      symbolSize: within ? (drawn.length > 500 ? 4 : 6) : 9,
      itemStyle: { color: style.color },
      tooltip: { formatter: (hit: { data: { sample: ValidationSample } }) => this.tip(hit.data.sample) },
    });
    return {
      grid: { left: 74, right: 20, top: 20, bottom: 48 },
      tooltip: { trigger: "item" },
      xAxis: axis(look, "sample (item of the data)", { type: "value", min: 0, max: Math.max(1, this.validation.data.items - 1), minInterval: 1, splitLine: { show: false } }),
      yAxis: axis(look, this.measure.label, { ...(likeness ? { type: "value", scale: true } : scale.axis(look)), nameGap: 56 }),
      series: [
        series("Within tolerance", look.series(0), true),
        series("Beyond it", beyondLook(look), false),
        drawnRules(rules.map((rule) => ({ ...rule, value: place(rule.value) })), look),
      ],
    };
  }

  private worst(drawn: ValidationSample[]): ValidationSample[] {
    const sign = this.measure.likeness ? 1 : -1;
    return [...drawn]
      .filter((sample) => this.measure.likeness || (this.value(sample) ?? 0) > 0)
      .sort((a, b) => sign * ((this.value(a) ?? 0) - (this.value(b) ?? 0)))
      .slice(0, named);
  }

  private label(sample: ValidationSample, look: Look, width: number): Option {
    const last = this.validation.data.items - 1;
    const right = sample.item > last / 2;
    return {
      show: true,
      formatter: called(sample).split("/").pop() ?? "",
      position: right ? "left" : "right",
      color: look.text,
      fontSize: 12,
      width: Math.min(220, width / 2 - 60),
      overflow: "truncate",
    };
  }

  private tip(sample: ValidationSample): HTMLElement {
    const shown = (value: number | null): string => (value === null ? MISSING : digits(value));
    return tooltip(called(sample), [
      ["output", sample.output.slice(0, 60)],
      ["", sample.within_tolerance ? "within tolerance" : "beyond tolerance"],
      ...this.known.map((each): [string, string] => [each.label, shown(sample[each.name])]),
      ["at the largest: baseline", shown(sample.reference_at_max)],
      ["at the largest: candidate", shown(sample.candidate_at_max)],
      ["beyond tolerance", `${whole(sample.mismatched)} of ${whole(sample.element_count)}`],
      ...(sample.non_finite_apart > 0 ? ([["NaN or infinite in one", whole(sample.non_finite_apart)]] as [string, string][]) : []),
    ]);
  }

  private data(): DataTable {
    const text = (title: string): { title: string; numeric: boolean } => ({ title, numeric: false });
    const number = (title: string): { title: string; numeric: boolean } => ({ title, numeric: true });
    return {
      columns: [
        number("item"), text("name"), text("output"), text("tolerance"), ...this.known.map((each) => number(each.label)), number("elements beyond tolerance"),
        number("elements"), number("NaN or infinite in one"),
      ],
      rows: this.validation.samples.map((sample) => [
        sample.item, sample.name, sample.output, sample.within_tolerance ? "within" : "beyond", ...this.known.map((each) => sample[each.name]),
        sample.mismatched, sample.element_count, sample.non_finite_apart,
      ]),
    };
  }
}

const called = (sample: ValidationSample): string => visible(sample.name === "" ? `item ${sample.item}` : sample.name).slice(0, 120);

function beyondLook(look: Look): ReturnType<Look["series"]> {
  return { color: look.bad, symbol: "diamond", dash: "solid" };
}

function drawnRules(rules: Rule[], look: Look): Option {
  return marks(
    "",
    rules,
    (rule) => [rule.value],
    ({ value, text, color, dash, below = false }, place, area) => {
      const { y } = place(0, value);
      if (y < area.y - 1 || y > area.y + area.height + 1) return [];
      const words = { text, fill: color, fontSize: 12, align: "right", verticalAlign: below ? "top" : "bottom", backgroundColor: look.panel, padding: [1, 3] };
      return [
        line(area.x, y, area.x + area.width, y, { stroke: color, lineDash: dash === "dashed" ? [5, 4] : undefined }),
        { type: "text", x: area.x + area.width - 4, y: below ? y + 3 : y - 3, style: words },
      ];
    },
    null,
    { encode: { y: 0 }, clip: false, z: 1 },
  );
}
