// What people say about runs, tags and notes, and runs that go.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "infermeter/plan/quantity.hpp"
#include "infermeter/store/store_impl.hpp"
#include "infermeter/text/quoted.hpp"

namespace infermeter {
namespace {

constexpr std::size_t longest_tag = 100, longest_note = 10'000;

Result<Done> check_tag(std::string_view tag) {
  const auto is_blank_or_control = [](char c) { return static_cast<unsigned char>(c) <= 0x20 || c == 0x7f; };
  if (tag.empty() || tag.size() > longest_tag || !is_utf8(tag) || std::ranges::any_of(tag, is_blank_or_control)) {
    return usage_error(fmt::format("a tag is a word of 1 to {} bytes of UTF-8, {} is none", longest_tag,
                                   in_quotes(tag.substr(0, longest_tag))));
  }
  return Done{};
}

}  // namespace

Result<Done> Store::Impl::add_marks(std::vector<RunListing>& runs) const {
  std::map<std::string_view, RunListing*> by_id;  // made for the first mark: most runs have none
  const auto each = [&](const SealedTable& table, std::string_view column,
                        const std::function<void(RunListing&, std::string)>& take) -> Result<Done> {
    INFERMETER_TRY(auto statement, database().prepare(fmt::format("SELECT run, {0}, {1} FROM {2} ORDER BY run, {0}",
                                                                  column, is_changed(table), table.name)));
    while (true) {
      INFERMETER_TRY(const bool row, statement.step());
      if (!row) return Done{};
      const std::string run = statement.text(0);
      if (by_id.empty()) {
        for (RunListing& listed : runs) by_id[listed.id] = &listed;
      }
      const auto found = by_id.find(run);
      if (found == by_id.end()) continue;
      if (statement.integer(2) != 0) {
        found->second->damage = damaged(run, changed(fmt::format("a {}", column))).message;
      } else {
        take(*found->second, statement.text(1));
      }
    }
  };
  INFERMETER_TRY_DONE(
      each(tags_table, "tag", [](RunListing& run, std::string tag) { run.tags.push_back(std::move(tag)); }));
  return each(notes_table, "note", [](RunListing& run, std::string note) { run.note = std::move(note); });
}

Result<std::string> Store::Impl::find_own(std::string_view wanted) const {
  INFERMETER_TRY(auto id, find(wanted));
  INFERMETER_TRY_DONE(check_own(id));
  return id;
}

Result<std::string> Store::tag_run(std::string_view run, const std::vector<std::string>& tags) {
  for (const std::string& tag : tags) INFERMETER_TRY_DONE(check_tag(tag));
  INFERMETER_TRY(auto transaction, Transaction::begin(impl_->database()));
  INFERMETER_TRY(auto id, impl_->find_own(run));
  for (const std::string& tag : tags) {
    INFERMETER_TRY_DONE(impl_->database().run(insert_into(tags_table) + "ON CONFLICT DO NOTHING", std::string_view(id),
                                              std::string_view(tag)));
  }
  INFERMETER_TRY_DONE(transaction.commit());
  return id;
}

Result<std::string> Store::untag_run(std::string_view run, const std::vector<std::string>& tags) {
  INFERMETER_TRY(auto transaction, Transaction::begin(impl_->database()));
  INFERMETER_TRY(auto id, impl_->find_own(run));
  for (const std::string& tag : tags) {
    INFERMETER_TRY_DONE(impl_->database().run("DELETE FROM run_tags WHERE run = ?1 AND tag = ?2", std::string_view(id),
                                              std::string_view(tag)));
    if (impl_->database().changed_rows() > 0) continue;
    return usage_error(fmt::format("run {} has no tag {} (`infermeter runs` lists them)", id, in_quotes(tag)));
  }
  INFERMETER_TRY_DONE(transaction.commit());
  return id;
}

Result<std::string> Store::set_note(std::string_view run, std::string_view note) {
  if (note.size() > longest_note || !is_utf8(note)) {
    return usage_error(fmt::format("a note is at most {} bytes of UTF-8", longest_note));
  }
  INFERMETER_TRY(auto transaction, Transaction::begin(impl_->database()));
  INFERMETER_TRY(auto id, impl_->find_own(run));
  if (note.empty()) {
    INFERMETER_TRY_DONE(impl_->database().run("DELETE FROM run_notes WHERE run = ?1", std::string_view(id)));
  } else {
    INFERMETER_TRY_DONE(impl_->database().run(
        insert_into(notes_table) + "ON CONFLICT (run) " + replace_all(notes_table), std::string_view(id), note));
  }
  INFERMETER_TRY_DONE(transaction.commit());
  return id;
}

// In a transaction of the caller's. Whoever holds the row sees what others have said about the run, and nobody says
// more.
Result<bool> Store::Impl::may_go(std::string_view id, Marked marked) const {
  if (database().is_shared()) INFERMETER_TRY_DONE(database().run("SELECT id FROM runs WHERE id = ?1 FOR UPDATE", id));
  INFERMETER_TRY(auto named, database().prepare("SELECT name FROM baselines WHERE run = ?1 ORDER BY name", id));
  INFERMETER_TRY(const bool is_baseline, named.step());
  if (is_baseline && marked == Marked::are_refused) {
    return usage_error(
        fmt::format("run {0} is the baseline {1}: `infermeter baseline remove NAME` first, and it can be deleted", id,
                    in_quotes(named.text(0))));
  }
  if (is_baseline || marked == Marked::are_refused) return !is_baseline;
  INFERMETER_TRY(const auto tags, database().integer("SELECT count(*) FROM run_tags WHERE run = ?1", id));
  return tags == 0;
}

Result<std::vector<std::string>> Store::delete_together(std::span<const std::string> ids, Marked marked) {
  std::vector<RunLock> locks;
  std::vector<std::string> gone;
  for (const std::string& id : ids) {
    if (marked == Marked::stay && is_being_measured(id)) continue;
    INFERMETER_TRY(auto lock, lock_run(id));
    locks.push_back(std::move(lock));
    INFERMETER_TRY(const bool may_go, impl_->may_go(id, marked));
    if (!may_go) continue;
    INFERMETER_TRY_DONE(impl_->database().run("DELETE FROM runs WHERE id = ?1", std::string_view(id)));
    gone.push_back(id);
  }
  return gone;
}

// A lock takes an open file, or a place in a server's table, of which there are some thousand: so many at a time. The
// runs go together: one transaction is around it.
Result<std::vector<std::string>> Store::delete_all(std::span<const std::string> ids, Marked marked) {
  constexpr std::size_t at_a_time = 200;
  std::vector<std::string> gone;
  for (std::size_t i = 0; i < ids.size(); i += at_a_time) {
    INFERMETER_TRY(auto some, delete_together(ids.subspan(i, std::min(at_a_time, ids.size() - i)), marked));
    std::ranges::move(some, std::back_inserter(gone));
  }
  return gone;
}

Result<std::vector<std::string>> Store::delete_runs(const std::vector<std::string>& runs) {
  INFERMETER_TRY(auto transaction, Transaction::begin(impl_->database()));
  std::vector<std::string> ids;
  std::set<std::string> known;
  for (const std::string& run : runs) {
    INFERMETER_TRY(auto id, impl_->find(run));
    if (known.insert(id).second) ids.push_back(std::move(id));
  }
  INFERMETER_TRY(auto gone, delete_all(ids, Marked::are_refused));
  INFERMETER_TRY_DONE(transaction.commit());
  return gone;
}

Result<std::vector<std::string>> Store::prune_runs(const PruneQuery& query) {
  INFERMETER_TRY(auto transaction, Transaction::begin(impl_->database()));
  INFERMETER_TRY(const auto runs, prunable(query));
  std::vector<std::string> ids;
  for (const RunListing& run : runs) ids.push_back(run.id);
  INFERMETER_TRY(auto gone, delete_all(ids, Marked::stay));
  INFERMETER_TRY_DONE(transaction.commit());
  return gone;
}

Result<std::vector<RunListing>> Store::prunable(const PruneQuery& query) {
  INFERMETER_TRY(auto runs, list_runs());
  std::erase_if(runs, [](const RunListing& run) { return !run.damage.empty(); });
  INFERMETER_TRY(const auto named, baselines());
  std::set<std::string_view> held;
  for (const Baseline& baseline : named) held.insert(baseline.run);
  INFERMETER_TRY(auto others, impl_->database().prepare(
                                  fmt::format("SELECT id FROM runs WHERE NOT {}", impl_->database().own_run())));
  std::set<std::string> of_others;
  while (true) {
    INFERMETER_TRY(const bool row, others.step());
    if (!row) break;
    of_others.insert(others.text(0));
  }
  std::ranges::stable_sort(runs, {}, &RunListing::created_at);
  if (query.keep) runs.resize(runs.size() - std::min(runs.size(), static_cast<std::size_t>(*query.keep)));
  std::erase_if(runs, [&](const RunListing& run) {
    return (query.before && run.created_at >= *query.before) || held.contains(run.id) || of_others.contains(run.id) ||
           !run.tags.empty() || (!run.finished && is_being_measured(run.id));
  });
  return runs;
}

Result<Done> Store::shrink() {
  if (impl_->database().is_shared()) return Done{};
  return impl_->database().execute("VACUUM");
}

}  // namespace infermeter
