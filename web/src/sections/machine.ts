// What the run was measured on and with, from its environment.
import type { Run } from "../document.ts";
import { format, whole } from "../format.ts";
import type { Fact, FactGroup } from "./facts.ts";
import { wordsOf } from "./subjects.ts";

type Environment = Run["environment"];

function text(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "string" || typeof value === "number") return String(value);
  return JSON.stringify(value);
}

// A count of 0 was not found out.
function counted(value: unknown): string {
  return typeof value === "number" && value > 0 ? whole(value) : "";
}

function bytes(value: unknown, zeroIsKnown = false): string {
  return typeof value === "number" && (value > 0 || zeroIsKnown) ? format("bytes", value) : "";
}

// Powers of two: "32 KiB" where "32.8 kB" would be.
function cacheSize(value: unknown): string {
  if (typeof value !== "number" || value % 1024 !== 0) return bytes(value);
  return value % 1024 ** 2 === 0 ? `${value / 1024 ** 2} MiB` : `${value / 1024} KiB`;
}

function caches(value: unknown): string {
  if (!Array.isArray(value)) return "";
  const one = (cache: { kind?: unknown; size_bytes?: unknown; shared_by?: unknown }): string =>
    `${text(cache.kind)} ${cacheSize(cache.size_bytes)}${typeof cache.shared_by === "number" && cache.shared_by > 1 ? ` (shared by ${cache.shared_by})` : ""}`;
  return value.map((cache) => one((cache ?? {}) as object)).join(", ");
}

function list(value: unknown): string {
  return Array.isArray(value) ? value.map(text).join(" ") : text(value);
}

const groups: { title: string; facts: [keyof Environment, string, (value: unknown) => string][] }[] = [
  {
    title: "Machine",
    facts: [
      ["processor", "processor", text],
      ["architecture", "architecture", text],
      ["hostname", "host name", text],
      ["virtualization", "virtualisation", (value) => (value === "" ? "none found" : text(value))],
      ["distribution", "system", text],
      ["kernel", "kernel", text],
      ["machine", "fingerprint", text],
    ],
  },
  {
    title: "Processors and memory",
    facts: [
      ["processors_online", "processors online", counted],
      ["processors_usable", "usable", counted],
      ["quota_processors", "quota", (value) => (value === null ? "none" : text(value))],
      ["cores", "cores", counted],
      ["sockets", "sockets", counted],
      ["numa_nodes", "NUMA nodes", counted],
      ["smt_active", "simultaneous multithreading", text],
      ["caches", "caches", caches],
      ["memory_total_bytes", "memory", bytes],
      ["memory_available_bytes", "available at the start", bytes],
      ["swap_used_bytes", "swap in use", (value) => bytes(value, true)],
      ["flags", "instruction sets", list],
    ],
  },
  {
    title: "State",
    facts: [
      ["governor", "frequency governor", text],
      ["turbo", "turbo", text],
      ["load_1min", "load over a minute", text],
      ["aslr", "address space layout randomisation", text],
      ["hardware_counters", "hardware counters", text],
      ["perf_event_paranoid", "perf_event_paranoid", text],
      ["invariant_tsc", "invariant time stamp counter", text],
      ["landlock_abi", "Landlock ABI", text],
      ["seccomp", "seccomp", text],
      ["cgroup_v2", "cgroup v2", text],
    ],
  },
];

const elsewhere = new Set(["command", "infermeter_version", "build", "git_commit"]);

// What no group names is shown too.
export function machineFacts(environment: Partial<Environment>): FactGroup[] {
  const known = new Set<string>([...groups.flatMap((group) => group.facts.map(([key]) => key)), ...elsewhere]);
  const others: Fact[] = Object.entries(environment)
    .filter(([key]) => !known.has(key))
    .map(([key, value]) => ({ name: wordsOf(key), value: text(value) }));
  return [
    ...groups.map((group) => ({
      title: group.title,
      facts: group.facts.filter(([key]) => key in environment).map(([key, title, show]) => ({ name: title, value: show(environment[key]), code: key === "machine" || key === "flags" })),
    })),
    { title: "Besides", facts: others },
  ];
}

// Runtimes as they were executed: by name and version, whichever subjects they executed.
export function versionFacts(run: Run): FactGroup {
  const { environment } = run;
  const runtimes = new Map<string, Set<string>>();
  for (const trial of [...run.trials, ...run.side_trials]) {
    const runtime = trial.executed["runtime"];
    if (runtime === undefined) continue;
    const versions = runtimes.get(runtime) ?? new Set();
    runtimes.set(runtime, versions.add(trial.executed["runtime_version"] ?? "unknown version"));
  }
  return {
    title: "Versions",
    facts: [
      { name: "infermeter", value: text(environment["infermeter_version"]) },
      { name: "its build", value: text(environment["build"]) },
      { name: "git commit of the folder", value: text(environment["git_commit"]) || "no repository", code: text(environment["git_commit"]) !== "" },
      ...[...runtimes].map(([runtime, versions]) => ({ name: runtime, value: [...versions].join(", ") })),
    ],
  };
}
