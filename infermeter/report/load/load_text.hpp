// Subjects under load: in one sentence each, and as a table.
#pragma once

#include <string>
#include <vector>

#include "infermeter/report/forms/grid.hpp"
#include "infermeter/report/run/row.hpp"
#include "infermeter/verdict/judge.hpp"

namespace infermeter {

// "server, 40/s poisson", "closed, 4 at once", "offline": how requests came.
[[nodiscard]] std::string load_words(const Pairs& load);

// "a@b under load (server, 40/s): valid; 39.9 requests/s, response time p50 8.1 ms, p99 21 ms".
[[nodiscard]] std::string load_sentence(const RunRecord& record, const Verdict& verdict, const Answer& answer);

// All of them are under load: then the table below has what there is to say of times.
[[nodiscard]] bool is_under_load(const Group& group);

// A row for each subject under load, of all groups: their loads differ. No rows where there is none. A percentile of
// too few requests says how many it needs; response times of more than a subject takes are marked. Columns that no
// subject has a figure in are left out.
[[nodiscard]] Grid load_grid(const RunRecord& record, const Verdict& verdict);

// Of subjects whose answers came piece by piece, under load or not: first tokens, pace, tokens. No rows where there is
// none.
[[nodiscard]] Grid generation_grid(const RunRecord& record, const Verdict& verdict);

}  // namespace infermeter
