#include "cli/output/help.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string_view>

#include "infermeter/text/terminal.hpp"
#include "infermeter/version.hpp"

namespace infermeter {

const char* const kExitCodes =
    "Exit codes: 0 ok · 1 outputs differ, or a gate failed · 2 usage or configuration · 3 a model failed to load or "
    "run "
    "· 4 a worker crashed, timed out or ran out of memory · 5 inconclusive, with --fail-inconclusive · 130, 143 "
    "interrupted.";

namespace {

constexpr std::size_t kWidth = 80;
constexpr std::size_t kColumn = 28;  // where descriptions begin

// For text that begins at column `indent`.
std::string in_lines(std::string_view text, std::size_t indent) {
  std::string lines = wrapped(text, kWidth - indent, 0);
  for (std::size_t end = lines.find('\n'); end != std::string::npos; end = lines.find('\n', end + 1))
    lines.insert(end + 1, indent, ' ');
  return lines;
}

std::string entry(const std::string& name, const std::string& description) {
  std::string line = "  " + name;
  const std::size_t width = display_width(line);
  line += width + 2 > kColumn ? "\n" + std::string(kColumn, ' ') : std::string(kColumn - width, ' ');
  return line + in_lines(description, kColumn) + '\n';
}

std::string entry(const CLI::Option& option) {
  std::string name = option.get_positional() ? option.get_name() : option.get_name(false, true);
  for (std::size_t comma = name.find(','); comma != std::string::npos; comma = name.find(',', comma + 2)) {
    name.replace(comma, 1, ", ");
  }
  if (!option.get_positional() && !option.get_type_name().empty()) name += " " + option.get_type_name();
  return entry(name, option.get_description());
}

std::string group(const CLI::App& app, const std::string& name) {
  std::string text = "\n" + name + ":\n";
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group() == name) text += entry(*option);
  }
  return text;
}

std::string option_groups(const CLI::App& app) {
  std::string text;
  std::vector<std::string> done{""};
  for (const CLI::Option* option : app.get_options()) {
    const std::string name = option->get_group();
    if (std::find(done.begin(), done.end(), name) != done.end() || name == "Help") continue;
    done.push_back(name);
    text += group(app, name);
  }
  return text + group(app, "Help");
}

std::string subcommands(const CLI::App& app) {
  std::string text;
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) {
    text += entry(verb->get_name(), verb->get_description());
  }
  return text.empty() ? text : "\nVerbs:\n" + text;
}

class Formatter : public CLI::FormatterBase {
 public:
  explicit Formatter(HelpText text) : text_(std::move(text)) {}

  std::string make_help(const CLI::App* app, std::string, CLI::AppFormatMode) const override {
    std::string help = "usage: " + text_.usage + "\n\n" + in_lines(text_.about, 0) + "\n";
    if (!text_.examples.empty()) help += "\nExamples:\n";
    for (const Example& example : text_.examples) {
      help += fmt::format("  {}\n      {}\n", example.command, in_lines(example.what, 6));
    }
    help += subcommands(*app) + option_groups(*app);
    for (const std::string& note : text_.notes) help += "\n" + in_lines(note, 0) + "\n";
    return help;
  }

  [[nodiscard]] const HelpText& text() const { return text_; }

 private:
  HelpText text_;
};

// --- manual pages --------------------------------------------------------------------------------------------------

// Text that is no request of roff: '\\' and '-' as they are, and neither '.' nor '\'' at the beginning of a line.
std::string roff(std::string_view text) {
  std::string plain;
  for (const char c : text) {
    if (plain.empty() && (c == '.' || c == '\'')) plain += "\\&";
    if (c == '\\') {
      plain += "\\e";
    } else if (c == '-') {
      plain += "\\-";
    } else if (c == '\'') {
      plain += "\\(aq";
    } else if (c == '`') {
      plain += "\\(ga";
    } else {
      plain += c;
    }
  }
  return plain;
}

std::string manual_entry(const CLI::Option& option) {
  std::string names =
      "\\fB" + roff(option.get_positional() ? option.get_name() : option.get_name(false, true)) + "\\fR";
  for (std::size_t comma = names.find(','); comma != std::string::npos; comma = names.find(',', comma + 10))
    names.replace(comma, 1, "\\fR, \\fB");
  if (!option.get_positional() && !option.get_type_name().empty())
    names += " \\fI" + roff(option.get_type_name()) + "\\fR";
  return ".TP\n" + names + '\n' + roff(option.get_description()) + '\n';
}

std::string manual_options(const CLI::App& app) {
  std::vector<std::string> groups;
  for (const CLI::Option* option : app.get_options())
    if (std::ranges::find(groups, option->get_group()) == groups.end() && !option->get_group().empty())
      groups.push_back(option->get_group());
  std::ranges::stable_partition(groups, [](const std::string& group) { return group != "Help"; });
  std::string text = ".SH OPTIONS\n";
  for (const std::string& group : groups) {
    text += ".SS " + roff(group) + '\n';
    for (const CLI::Option* option : app.get_options())
      if (option->get_group() == group) text += manual_entry(*option);
  }
  return text;
}

std::string_view without_dot(std::string_view sentence) {
  if (sentence.ends_with('.')) sentence.remove_suffix(1);
  return sentence;
}

const HelpText& help_of(const CLI::App& app) { return dynamic_cast<const Formatter&>(*app.get_formatter()).text(); }

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  return text;
}

}  // namespace

std::string manual_page(const CLI::App& app, const ManualName& name) {
  const HelpText& help = help_of(app);
  std::string page =
      fmt::format(".TH \"{}\" 1 \"\" \"infermeter " INFERMETER_VERSION "\" \"infermeter\"\n", roff(upper(name.name)));
  page += ".SH NAME\n" + roff(name.name) + " \\- " + roff(without_dot(name.summary)) + '\n';
  page += ".SH SYNOPSIS\n\\fB" + roff(help.usage) + "\\fR\n";
  page += ".SH DESCRIPTION\n" + roff(help.about) + '\n';
  const auto verbs = app.get_subcommands([](const CLI::App*) { return true; });
  if (!verbs.empty()) page += ".SH VERBS\n";
  for (const CLI::App* const verb : verbs)
    page += ".TP\n\\fB" + roff(verb->get_name()) + "\\fR\n" + roff(verb->get_description()) + '\n';
  page += manual_options(app);
  for (const CLI::App* const verb : verbs) {
    if (dynamic_cast<const Formatter*>(verb->get_formatter().get()) == nullptr || verb->get_options().size() < 2)
      continue;
    if (app.get_name() == "infermeter") continue;  // they have pages of their own
    page += ".SH " + roff(upper(app.get_name() + " " + verb->get_name())) + "\n\\fB" + roff(help_of(*verb).usage) +
            "\\fR\n.PP\n" + roff(help_of(*verb).about) + '\n';
    for (const CLI::Option* option : verb->get_options()) page += manual_entry(*option);
  }
  if (!help.examples.empty()) page += ".SH EXAMPLES\n";
  for (const Example& example : help.examples)
    page += ".TP\n\\fB" + roff(example.command) + "\\fR\n" + roff(example.what) + '\n';
  for (const std::string& note : help.notes)
    page += (note == help.notes.front() ? ".SH NOTES\n" : ".PP\n") + roff(note) + '\n';
  if (app.get_name() == "infermeter") {
    page += ".SH SEE ALSO\n";
    for (const CLI::App* const verb : verbs)
      page += "\\fBinfermeter\\-" + roff(verb->get_name()) + "\\fR(1)" + (verb == verbs.back() ? "\n" : ",\n");
  } else {
    page += ".SH SEE ALSO\n\\fBinfermeter\\fR(1)\n";
  }
  return page;
}

void set_help(CLI::App& app, HelpText text) {
  app.formatter(std::make_shared<Formatter>(std::move(text)));
  app.set_help_flag("-h,--help", "Print this help and exit.")->group("Help");
}

}  // namespace infermeter
