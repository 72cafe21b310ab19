#include "infermeter/report/report.hpp"

#include "infermeter/report/exchange/exchange.hpp"
#include "infermeter/report/forms/document_run.hpp"
#include "infermeter/report/forms/render_document.hpp"
#include "infermeter/report/forms/renderers.hpp"

namespace infermeter {
std::string render(const RunRecord& record, const Verdict& verdict, Format format, const RenderOptions& options) {
  switch (format) {
    case Format::table: return render_table(record, verdict, options);
    case Format::json: return render_json(record, verdict, options);
    case Format::csv: return render_csv(record, verdict);
    case Format::markdown: return render_markdown(record, verdict);
    case Format::html: return render_html(run_part(record, verdict, options));
    case Format::latex: return render_latex(record, verdict);
    case Format::openmetrics: return render_openmetrics(record, verdict);
    case Format::bencher: return render_bencher(record, verdict);
    case Format::google_benchmark: return render_google_benchmark(record, verdict);
  }
  return {};
}

}  // namespace infermeter
