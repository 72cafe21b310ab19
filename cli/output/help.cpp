#include "cli/output/help.hpp"

#include <fmt/format.h>

#include <memory>
#include <sstream>

namespace infermeter {

const char* const kExitCodes =
    "Exit codes: 0 ok · 1 outputs differ, or a gate failed · 2 usage or configuration · 3 a model failed to load or "
    "run "
    "· 4 a worker crashed, timed out or ran out of memory · 5 inconclusive, with --fail-inconclusive · 130, 143 "
    "interrupted.";

namespace {

constexpr std::size_t kWidth = 80;
constexpr std::size_t kColumn = 28;  // where descriptions begin

// Columns of UTF-8 text that has no wide characters.
std::size_t display_columns(std::string_view text) {
  std::size_t count = 0;
  for (const char c : text) count += (static_cast<unsigned char>(c) & 0xC0) != 0x80 ? 1 : 0;
  return count;
}

// Breaks at blanks; every line but the first is indented.
std::string wrapped(const std::string& text, std::size_t indent, std::size_t first_column) {
  std::istringstream words(text);
  std::string result, word;
  std::size_t column = first_column;
  bool at_line_begin = true;
  while (words >> word) {
    const std::size_t needed = display_columns(word) + (at_line_begin ? 0 : 1);
    if (!at_line_begin && column + needed > kWidth) {
      result += '\n' + std::string(indent, ' ');
      column = indent;
      at_line_begin = true;
    }
    if (!at_line_begin) result += ' ', ++column;
    result += word;
    column += display_columns(word);
    at_line_begin = false;
  }
  return result;
}

std::string entry(const std::string& name, const std::string& description) {
  std::string line = "  " + name;
  const std::size_t width = display_columns(line);
  line += width + 2 > kColumn ? "\n" + std::string(kColumn, ' ') : std::string(kColumn - width, ' ');
  return line + wrapped(description, kColumn, kColumn) + '\n';
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
    std::string help = "usage: " + text_.usage + "\n\n" + wrapped(text_.about, 0, 0) + "\n";
    if (!text_.examples.empty()) help += "\nExamples:\n";
    for (const Example& example : text_.examples) {
      help += fmt::format("  {}\n      {}\n", example.command, wrapped(example.what, 6, 6));
    }
    help += subcommands(*app) + option_groups(*app);
    for (const std::string& note : text_.notes) help += "\n" + wrapped(note, 0, 0) + "\n";
    return help;
  }

 private:
  HelpText text_;
};

}  // namespace

void set_help(CLI::App& app, HelpText text) {
  app.formatter(std::make_shared<Formatter>(std::move(text)));
  app.set_help_flag("-h,--help", "Print this help and exit.")->group("Help");
}

}  // namespace infermeter
