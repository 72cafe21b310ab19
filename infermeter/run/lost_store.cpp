#include "infermeter/run/lost_store.hpp"

#include <fmt/format.h>

#include "infermeter/store/store.hpp"
#include "infermeter/text/quoted.hpp"
#include "infermeter/text/shell_quote.hpp"

namespace infermeter {

Error kept_elsewhere(const RunRecord& record, const Error& why, const RunContext& context) {
  Plan here = record.plan;
  here.store.clear();  // OUTPUT_DIR/infermeter.db
  const auto keep = [&]() -> Result<Done> {
    INFERMETER_TRY(auto store, Store::open(here, Store::Mode::write, context.interrupt));
    return store.keep_so_far(record);
  };
  const auto kept = keep();
  if (!kept.ok()) {
    return {why.kind, fmt::format("{}; what was measured could not be kept in {} either: {}", why.message,
                                  printable(here.output_dir), kept.error().message)};
  }
  const std::string store = printable(shell_quoted(record.plan.store)),
                    folder = printable(shell_quoted(here.output_dir));
  return {why.kind,
          fmt::format(
              "{}; what was measured is kept in {}: `infermeter store push --output-dir {} --store {}` delivers it, "
              "then `infermeter run --resume {} --store {}` continues",
              why.message, store_place(here)->shown(), folder, store, record.id, store)};
}

}  // namespace infermeter
