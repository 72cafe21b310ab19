// Reports in the forms of other tools. Pure, like the others.
#pragma once

#include <string>

#include "infermeter/verdict/gate/gate.hpp"
#include "infermeter/verdict/judge.hpp"
#include "infermeter/verdict/validation.hpp"

namespace infermeter {

// JSON of Google Benchmark's JSONReporter: an entry for each process of a subject (a repetition; real_time is the mean
// of its timed iterations, cpu_time that times the processors it used, both in ns), then mean, median, stddev and cv
// over them. Without subjects that have no iterations.
[[nodiscard]] std::string render_google_benchmark(const RunRecord& record, const Verdict& verdict);

// Bencher Metric Format: by label, then by measure ("latency", the median in ns; "throughput", items/s; the others by
// their own names, times in ns, memory in bytes), the value and the ends of its interval.
[[nodiscard]] std::string render_bencher(const RunRecord& record, const Verdict& verdict);

// OpenMetrics 1.0 text, which is Prometheus's as well: a gauge for each metric, with two more for the ends of its
// interval. Base units: seconds, bytes. Samples carry no time, as node_exporter takes none.
[[nodiscard]] std::string render_openmetrics(const RunRecord& record, const Verdict& verdict);

// A LaTeX table for each group of subjects (packages booktabs and, for other letters than ASCII's, a Unicode engine).
[[nodiscard]] std::string render_latex(const RunRecord& record, const Verdict& verdict);

// A piece of HTML for a notebook's page: the answers, a picture of the changes, the tables, the caveats. It has no
// script and no style sheet, and takes the colours of the text around it, so that a notebook that is dark, or that
// trusts nobody, shows it too. Text from outside is escaped.
[[nodiscard]] std::string render_notebook(const RunRecord& record, const Verdict& verdict);
[[nodiscard]] std::string render_notebook(const Validation& validation);

// SARIF 2.1.0: a rule for each expectation, a result for each verdict, at its line of the gate file. Failed: error;
// inconclusive: warning.
[[nodiscard]] std::string render_sarif(const RunRecord& record, const Gate& gate, const GateVerdict& verdict);

// Workflow commands of GitHub Actions, which it shows as annotations: ::error and ::warning as above, ::notice with the
// counts.
[[nodiscard]] std::string render_github(const RunRecord& record, const Gate& gate, const GateVerdict& verdict);

}  // namespace infermeter
