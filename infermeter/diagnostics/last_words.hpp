// What a program said last.
#pragma once

#include <string_view>

namespace infermeter {

// The last line that says something. Lines that begin with a blank (the code that Python prints under a warning or
// within a traceback) and lines without a letter or digit do, if there is no other; empty: there is none. Colours of a
// terminal around the line are left out.
[[nodiscard]] std::string_view last_words(std::string_view text);

}  // namespace infermeter
