// The page: the document inside one HTML file. All text in it but the page's own is escaped or base64, so that no name
// can become markup; and its policy lets nothing run but the page's own script.
#include <fmt/format.h>
#include <zlib.h>

#include <limits>

#include "infermeter/diagnostics/check.hpp"
#include "infermeter/report/forms/base64.hpp"
#include "infermeter/report/forms/document_title.hpp"
#include "infermeter/report/forms/markup.hpp"
#include "infermeter/report/forms/page.hpp"
#include "infermeter/report/forms/render_document.hpp"

namespace infermeter {
namespace {

// Most of a document is digits that nothing predicts: what is left to do is to code them well, not to look for matches.
constexpr int compression_level = 5;
constexpr int window_bits = 15, memory_level = 9;

std::string deflated(std::string_view text) {
  z_stream stream{};
  INFERMETER_CHECK(deflateInit2(&stream, compression_level, Z_DEFLATED, window_bits, memory_level, Z_FILTERED) == Z_OK);
  std::string bytes(deflateBound(&stream, static_cast<uLong>(text.size())), '\0');
  // zlib counts a call's bytes in 32 bits; four gigabytes of text would be no page.
  INFERMETER_CHECK(bytes.size() < std::numeric_limits<uInt>::max());
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_out = static_cast<uInt>(bytes.size());
  const int result = deflate(&stream, Z_FINISH);
  bytes.resize(stream.total_out);
  deflateEnd(&stream);
  INFERMETER_CHECK(result == Z_STREAM_END);
  return bytes;
}

// First of all the policy, so that it holds for whatever follows. `script`, `style`: what it lets in. `looks`: markup.
std::string head(std::string_view title, std::string_view script, std::string_view style, std::string_view looks) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src '{}'; style-src '{}'; "
      "style-src-attr 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n<title>{}</title>\n{}\n</head>\n",
      script, style, escaped(title), looks);
}

std::string for_readers_without_script(std::span<const ReportPart> parts) {
  std::string text = "<noscript>\n<p>JavaScript is off: this is the text report.</p>\n";
  for (const ReportPart& part : parts) {
    text += fmt::format("<h2>{}</h2>\n<pre tabindex=\"0\">{}</pre>\n", escaped(part.title), escaped(part.text));
  }
  return text + "</noscript>\n";
}

// What readers see without script, and the document for those who have one.
std::string document_body(std::span<const ReportPart> parts, const DocumentHead& above) {
  std::string html = "<div id=\"report\"></div>\n" + for_readers_without_script(parts);
  html += "<script type=\"application/json\" id=\"document\" data-encoding=\"deflate\">";
  html += base64(deflated(render_document(parts, above)));
  return html + "</script>\n";
}

}  // namespace

std::string render_html(std::span<const ReportPart> parts, const DocumentHead& above) {
  std::string html = head(document_title(parts, above), page.script_hash, page.style_hash,
                          fmt::format("<style>{}</style>", page.style));
  html += "<body>\n" + document_body(parts, above);
  html += "<script>";
  html += page.script;
  html += "</script>\n</body>\n</html>\n";
  return html;
}

std::string site_page_head(std::string_view title, std::string_view style, std::string_view more) {
  return head(title, "self", "self", fmt::format("<link rel=\"stylesheet\" href=\"{}\">{}", escaped(style), more));
}

std::string render_html(std::span<const ReportPart> parts, const DocumentHead& above, const PageFrame& frame) {
  return site_page_head(document_title(parts, above), frame.style) + "<body>\n" + frame.above +
         document_body(parts, above) + frame.below +
         fmt::format("<script src=\"{}\"></script>\n</body>\n</html>\n", escaped(frame.script));
}

}  // namespace infermeter
