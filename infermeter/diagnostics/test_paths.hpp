// Where the checkout and this build lie, for tests. Compiled into a file of its own (cmake/layers.cmake): what includes
// this compiles to the same bytes in every clone, and ccache finds it.
#pragma once

namespace infermeter::test {

extern const char* const source_dir;
extern const char* const worker_program;
extern const char* const fake_folder;  // of the back end `fake`
extern const char* const replays;      // recorded times that simulation/ draws from

}  // namespace infermeter::test
