// The feed: Atom, RFC 4287. An entry is a change of a level; its id is made of the series and the first run of the new
// level, so that it stays as long as the change is seen there.
#include <fmt/format.h>

#include "infermeter/report/forms/markup.hpp"
#include "infermeter/report/history/parts.hpp"
#include "infermeter/report/site/words.hpp"
#include "infermeter/text/hash.hpp"
#include "infermeter/text/utc_time.hpp"

namespace infermeter {
namespace {

constexpr std::size_t most_entries = 100;

// RFC 3339, which a feed must have whatever a store says.
std::string moment(double at) {
  const std::string text = utc_time(at);
  return text.empty() ? "1970-01-01T00:00:00Z" : text;
}

// A UUID of version 8 (RFC 9562): of our own making.
std::string entry_id(const SiteChange& change) {
  Fnv1a hash;
  hash.add(change.series->name);
  hash.add('\n');
  hash.add(change.first().run);
  const std::uint64_t high = split_mix(hash.value()), low = split_mix(hash.value() + kSplitMixStep);
  return fmt::format("urn:uuid:{:08x}-{:04x}-8{:03x}-{:04x}-{:012x}", high >> 32, (high >> 16) & 0xffff, high & 0xfff,
                     0x8000 | ((low >> 48) & 0x3fff), low & 0xffffffffffff);
}

std::string entry(const Site& site, const SiteChange& change) {
  const Figure& first = change.first();
  const std::string context = context_text(*change.change);
  return fmt::format(
      "<entry>\n<id>{}</id>\n<title>{}</title>\n<updated>{}</updated>\n<link rel=\"alternate\" type=\"text/html\" "
      "href=\"{}{}\"/>\n<summary>Since run {}.{}</summary>\n</entry>\n",
      entry_id(change), site_text(change_title(site, change)), moment(first.created_at), escaped(site.base_url),
      address_of_series(*change.series), site_text(first.run, 60),
      context.empty() ? "" : escaped(fmt::format(" What else changed there: {}.", context)));
}

}  // namespace

std::string site_feed(const Site& site) {
  const auto changes = newest_changes(site, most_entries);
  const double updated = !changes.empty() ? changes.front().first().created_at : 0;
  std::string feed = fmt::format(
      "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<feed xmlns=\"http://www.w3.org/2005/Atom\">\n<id>{}</id>\n"
      "<title>{}: changes</title>\n<updated>{}</updated>\n<author><name>infermeter</name></author>\n"
      "<link rel=\"self\" type=\"application/atom+xml\" href=\"{}feed.xml\"/>\n"
      "<link rel=\"alternate\" type=\"text/html\" href=\"{}index.html\"/>\n",
      escaped(site.feed_id), site_text(site.title, 200), moment(updated), escaped(site.base_url),
      escaped(site.base_url));
  for (const SiteChange& change : changes) feed += entry(site, change);
  return feed + "</feed>\n";
}

}  // namespace infermeter
