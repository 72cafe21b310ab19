#include <fmt/format.h>
#include <gmock/gmock.h>
#include <zlib.h>

#include <regex>

#include "infermeter/report/forms/base64.hpp"
#include "infermeter/report/forms/document_run.hpp"
#include "infermeter/report/forms/document_validation.hpp"
#include "infermeter/report/forms/page.hpp"
#include "infermeter/report/options.hpp"
#include "infermeter/report/test_documents.hpp"

namespace infermeter::html_test {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string between(const std::string& text, const std::string& begin, const std::string& end) {
  const auto from = text.find(begin);
  if (from == std::string::npos) return {};
  return text.substr(from + begin.size(), text.find(end, from + begin.size()) - from - begin.size());
}

std::string bytes_of(const std::string& base64_text) {
  static constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char digit : base64_text) {
    if (digit == '=') break;
    bits = bits << 6U | static_cast<std::uint32_t>(digits.find(digit));
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> static_cast<unsigned>(count) & 255U);
  }
  return bytes;
}

std::string inflated(const std::string& bytes, std::size_t size) {
  std::string text(size, '\0');
  uLongf length = static_cast<uLongf>(size);
  EXPECT_EQ(uncompress(reinterpret_cast<Bytef*>(text.data()), &length, reinterpret_cast<const Bytef*>(bytes.data()),
                       static_cast<uLong>(bytes.size())),
            Z_OK);
  text.resize(length);
  return text;
}

// What the page holds beside its own script and style.
std::string without_page(std::string html) {
  for (const std::string_view own : {page.script, page.style}) {
    const auto at = html.find(own);
    if (at != std::string::npos) html.erase(at, own.size());
  }
  return html;
}

TEST(Base64, IsThatOfTheStandard) {
  // RFC 4648, section 10
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foob"), "Zm9vYg==");
  EXPECT_EQ(base64("fooba"), "Zm9vYmE=");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64("\xff\xfe\xfd"), "//79");
}

TEST(Html, HoldsTheDocument) {
  const auto parts = test::all_parts();
  const std::string html = render_html(parts);
  EXPECT_THAT(html, AllOf(StartsWith("<!doctype html>\n<html lang=\"en\">"), EndsWith("</html>\n"),
                          HasSubstr("<div id=\"report\"></div>")));
  const std::string encoded = between(html, "id=\"document\" data-encoding=\"deflate\">", "</script>");
  const std::string document = render_document(parts);
  EXPECT_EQ(inflated(bytes_of(encoded), document.size() + 1), document);
  EXPECT_EQ(html, render_html(parts));
}

TEST(Html, LetsOnlyItsOwnScriptRun) {
  const std::string html = render_html(test::all_parts());
  const std::string policy = between(html, "Content-Security-Policy\" content=\"", "\"");
  const std::string script = fmt::format("script-src '{}'", page.script_hash);
  const std::string style = fmt::format("style-src '{}'", page.style_hash);
  EXPECT_THAT(policy, AllOf(StartsWith("default-src 'none';"), HasSubstr(script), HasSubstr(style)));
  EXPECT_THAT(policy, Not(HasSubstr("http")));
  EXPECT_LT(html.find("Content-Security-Policy"), html.find("<style>"));
  EXPECT_THAT(html, AllOf(HasSubstr(fmt::format("<script>{}</script>", page.script)),
                          HasSubstr(fmt::format("<style>{}</style>", page.style))));
}

TEST(Html, ReadersWithoutScriptGetTheText) {
  const std::string html = render_html(std::array{test::example_part()});
  const std::string text = between(html, "<noscript>", "</noscript>");
  EXPECT_THAT(text, AllOf(HasSubstr("<pre tabindex"), HasSubstr("openvino is 1.08x faster than onnxruntime")));
}

TEST(Html, HostileNamesAreNoMarkup) {
  const RunRecord record = test::hostile_record();
  ReportPart part = run_part(record, judge(record));
  part.title = "</title><script>alert(1)</script>";
  const std::string html = without_page(render_html(std::array{part}));
  EXPECT_THAT(html, AllOf(Not(HasSubstr("<svg")), Not(HasSubstr("alert(1)</script>")), Not(HasSubstr("\xe2\x80\xae")),
                          Not(HasSubstr("\x1b")), Not(HasSubstr("\xff")), Not(HasSubstr("\xc2\x9b"))));
  EXPECT_EQ(html.find('\0'), std::string::npos);
  EXPECT_THAT(html, HasSubstr("<title>&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt;</title>"));
  // Of script elements there are the document and the page's own, and nothing opens another.
  const std::regex opening("<script", std::regex::icase);
  EXPECT_EQ(std::distance(std::sregex_iterator(html.begin(), html.end(), opening), std::sregex_iterator()), 2);
}

TEST(Html, IsAFormatOfRuns) {
  const RunRecord record = test::example_record();
  const Verdict verdict = judge(record);
  EXPECT_EQ(*format_from_string("html"), Format::html);
  EXPECT_EQ(render(record, verdict, Format::html, {}), render_html(std::array{run_part(record, verdict)}));
}

TEST(Html, IsAFormatOfTheOtherReports) {
  const Validation validation = test::example_validation();
  EXPECT_EQ(render_validation(validation, Format::html, {}), render_html(std::array{validation_part(validation)}));
  const RunRecord record = test::example_record();
  const Verdict verdict = judge(record);
  const VariantSet set = test::example_variants();
  EXPECT_EQ(render_variants(record, verdict, set, Format::html, {}),
            render_html(std::array{variants_part(record, verdict, set)}));
  EXPECT_EQ(render_gate(record, {}, {}, Format::html, {}), render_html(std::array{gate_part(record, verdict, {}, {})}));
}

}  // namespace
}  // namespace infermeter::html_test
