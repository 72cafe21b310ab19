// What may come next on a command line: asked by the shells' scripts (shell_script.hpp) with the words so far.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/surroundings.hpp"
#include "cli/verbs/verb.hpp"

namespace infermeter {

struct Candidate {
  std::string word{};   // in place of the last word; behind '@', '=' or ',' it goes on
  std::string about{};  // one line, or nothing
};

// `words`: what follows the program's name; the last one is being written and may be empty. Nothing: a file, or
// whatever the shell thinks. What cannot be found out (a store, a back end) has no candidates.
[[nodiscard]] std::vector<Candidate> candidates(const Surroundings& world, std::span<const Verb> verbs,
                                                std::vector<std::string> words);

}  // namespace infermeter
