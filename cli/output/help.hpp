// Help that teaches: what it is for, examples first, then options by group, units and exit codes. Written by us and not
// by CLI11, whose layout differs between its versions.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace infermeter {

struct Example {
  std::string command;
  std::string what;
};

struct HelpText {
  std::string usage;  // "infermeter run [SUBJECT…] [flags]"
  std::string about;  // a paragraph
  std::vector<Example> examples;
  std::vector<std::string> notes;  // paragraphs at the end
};

// Gives `app` this help, of which the options are taken from the app itself.
void set_help(CLI::App& app, HelpText text);

struct ManualName {
  std::string name;     // "infermeter-run"
  std::string summary;  // one line
};

// The same text as a manual page of section 1 (man(7)), with the pages of its verbs below it.
[[nodiscard]] std::string manual_page(const CLI::App& app, const ManualName& name);

// The paragraph on exit codes, the same everywhere.
extern const char* const kExitCodes;

}  // namespace infermeter
