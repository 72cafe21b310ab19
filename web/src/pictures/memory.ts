// Memory from phase to phase of a process.
import type { Trial } from "../document.ts";
import { count, format } from "../format.ts";
import { axis, tooltip } from "../picture.ts";
import type { ChartPicture, Picture } from "../picture.ts";
import { scaleOf, valueAxis } from "./scale.ts";
import { leftOut, mostSubjects, sentences, trialsOf } from "./trials.ts";
import type { Measured } from "./trials.ts";

type Phase = Exclude<keyof Trial["memory"], "peak_reset">;

const phases: { key: Phase; name: string; short: string }[] = [
  { key: "rss_before_load_bytes", name: "before load", short: "before" },
  { key: "rss_peak_load_bytes", name: "peak of loading", short: "load peak" },
  { key: "rss_after_load_bytes", name: "after load", short: "loaded" },
  { key: "pss_after_load_bytes", name: "after load (PSS)", short: "loaded (PSS)" },
  { key: "rss_peak_inference_bytes", name: "peak of inference", short: "peak" },
  { key: "pss_after_inference_bytes", name: "after inference (PSS)", short: "PSS" },
  { key: "device_peak_bytes", name: "peak on the device", short: "device" },
];

// Of the processes sorted by their peak the one in the middle (of two, the lower): one that was there, whose phases
// belong together, rather than a median of each.
export function middleProcess(trials: Trial[]): Trial | null {
  const key = (trial: Trial): number | null => trial.memory.rss_peak_inference_bytes ?? trial.memory.rss_after_load_bytes ?? trial.memory.device_peak_bytes;
  const known = trials.filter((trial) => key(trial) !== null).sort((a, b) => (key(a) as number) - (key(b) as number));
  return known[Math.floor((known.length - 1) / 2)] ?? null;
}

export function memoryByPhase(m: Measured): Picture[] {
  const all = m.subjects.flatMap((subject) => {
    const trials = trialsOf(m.run, subject.index);
    const trial = middleProcess(trials);
    return trial === null ? [] : [{ subject: subject.index, trial, processes: trials.length }];
  });
  const used = phases.filter(({ key }) => all.some(({ trial }) => trial.memory[key] !== null));
  if (all.length === 0 || used.length < 2) return [];
  const shown = all.slice(0, mostSubjects);
  const picture: ChartPicture = {
    kind: "chart",
    id: "memory",
    title: "Memory of a process from phase to phase",
    short: "Memory by phase",
    reads: "Resident memory unless said otherwise; PSS counts pages that are shared with other processes in part. Each line is one process of its subject: the one with the median peak.",
    note: () => sentences(leftOut(shown.length, all.length), shown.some(({ trial }) => !trial.memory.peak_reset) ? "Where the kernel did not let the peak be reset after loading, the peak of inference holds that of loading." : ""),
    data: () => ({
      columns: [{ title: "subject", numeric: false }, { title: "process", numeric: true }, ...phases.map(({ name }) => ({ title: `${name}, bytes`, numeric: true }))],
      rows: m.run.trials.map((trial) => [m.names[trial.subject] ?? "", trial.process + 1, ...phases.map(({ key }) => trial.memory[key])]),
    }),
    height: (width) => (width < 620 ? 320 : 360),
    zoom: "none",
    option: (look, width) => {
      const scale = scaleOf("bytes", shown.flatMap(({ trial }) => used.map(({ key }) => trial.memory[key])), { zero: true });
      return {
        grid: { left: 62, right: 24, top: 14, bottom: 56 },
        xAxis: axis(look, "", { type: "category", data: used.map(({ name, short }) => (width < 620 ? short : name)), boundaryGap: true, axisLabel: { color: look.muted, fontSize: width < 620 ? 11 : 12, lineHeight: 14, interval: 0, ...(width < 620 && used.length > 5 ? { rotate: 40 } : { width: (width - 90) / used.length, overflow: "break" }) } }),
        yAxis: valueAxis(look, "memory", scale, 300, { nameGap: 44 }, true),
        tooltip: { trigger: "item" },
        series: shown.map(({ subject, trial, processes }) => {
          const own = look.series(subject);
          return {
            type: "line",
            name: m.names[subject] ?? "",
            data: used.map(({ key }) => (trial.memory[key] === null ? null : (trial.memory[key] as number) / scale.unit.factor)),
            symbol: own.symbol,
            symbolSize: 8,
            lineStyle: { color: own.color, type: own.dash, width: 1.8 },
            itemStyle: { color: own.color },
            tooltip: {
              formatter: (hit: { dataIndex: number }) => {
                const phase = used[hit.dataIndex];
                return tooltip(m.names[subject] ?? "", [
                  [phase?.name ?? "", format("bytes", phase === undefined ? null : trial.memory[phase.key], 5)],
                  ["process", `${trial.process + 1}, of ${count(processes, "process", "processes")}`],
                ]);
              },
            },
          };
        }),
      };
    },
    legend: (look) => shown.map(({ subject }) => ({ name: m.names[subject] ?? "", look: look.series(subject) })),
  };
  return [picture];
}
