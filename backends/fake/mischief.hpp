// What the test instrument does wrong when it is told to.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace infermeter {

enum class Place { nowhere, load, compile, run, outputs, profile };

// "load", "compile", "run:N" (the N-th inference of the session, from 1; "run" is "run:1"), "outputs:N" (when a
// request's outputs are asked for, the N-th time), "profile" (when the profile of operators is written, and its file is
// there).
struct Trigger {
  Place place = Place::nowhere;
  std::uint64_t inference = 1;

  [[nodiscard]] bool fires(Place here, std::uint64_t now = 1) const { return place == here && now == inference; }
};
[[nodiscard]] Trigger trigger_from(std::string_view text);  // throws std::invalid_argument

struct Triggers {
  Trigger fail, out_of_memory, crash, abort, kill, exit, hang, stop;
};

// Throws Failure, ends the process, never returns, or does nothing.
void misbehave(const Triggers& triggers, Place here, std::uint64_t inference = 1);

// Writes `bytes` bytes of lines to stderr; without end if `endless`.
void spew(std::uint64_t bytes, bool endless);

// Allocates and touches; never given back. Throws Failure(IMB_OUT_OF_MEMORY).
void leak(std::uint64_t bytes);

// Starts a process that takes `bytes` of memory and lives for ever: a child, or an orphan in a session of its own.
// Returns its number. Throws Failure.
[[nodiscard]] int start_child(bool in_session, std::uint64_t bytes);

// What an attempt to leave the sandbox came to: the error number, 0 if it succeeded.
[[nodiscard]] int try_to_write(const std::string& path);
[[nodiscard]] int try_to_read(const std::string& path);
[[nodiscard]] int try_to_connect();
[[nodiscard]] int try_to_execute();

}  // namespace infermeter
