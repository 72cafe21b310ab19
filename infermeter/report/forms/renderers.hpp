// A renderer per format: a record and its verdict become text.
#pragma once

#include <string>

#include "infermeter/report/options.hpp"
#include "infermeter/verdict/judge.hpp"

namespace infermeter {

[[nodiscard]] std::string render_table(const RunRecord& record, const Verdict& verdict, const RenderOptions& options);
[[nodiscard]] std::string render_markdown(const RunRecord& record, const Verdict& verdict);
[[nodiscard]] std::string render_csv(const RunRecord& record, const Verdict& verdict);
[[nodiscard]] std::string render_json(const RunRecord& record, const Verdict& verdict, const RenderOptions& options);

}  // namespace infermeter
