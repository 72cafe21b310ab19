#include "cli/output/report_file.hpp"

#include <fmt/format.h>

#include "cli/output/output_file.hpp"
#include "infermeter/importing/read_report.hpp"
#include "infermeter/report/report.hpp"
#include "infermeter/text/quoted.hpp"

namespace infermeter {
namespace {

constexpr std::size_t largest_report = std::size_t{512} << 20;

}  // namespace

bool is_report_file(const std::string& name) { return name.ends_with(".json"); }

Result<RunRecord> read_report_file(const std::string& file) {
  INFERMETER_TRY(const std::string text, read_text_file(file, largest_report, "report"));
  auto record = record_from_report(text);
  if (record) return record;
  return Error{record.error().kind,
               fmt::format("{} is not a baseline: {}", printable(file, 300), record.error().message)};
}

}  // namespace infermeter
