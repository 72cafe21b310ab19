#include "infermeter/store/postgres.hpp"

#include <endian.h>
#include <fmt/format.h>
#include <poll.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "infermeter/diagnostics/interrupt.hpp"
#include "infermeter/store/libpq.hpp"
#include "infermeter/store/postgres_sql.hpp"
#include "infermeter/text/quoted.hpp"

namespace infermeter {
namespace {

constexpr int look_ms = 100;             // how often is looked whether a signal came
constexpr int looks_before_cancel = 10;  // what is being written gets this long after a signal
constexpr int connect_timeout_s = 10;
constexpr int oldest_server = 130'000;  // pg_current_xact_id()
constexpr int lock_class = 0x696e666d;  // "infm", the first half of our advisory locks

// Types by their numbers in pg_type.dat, which never change.
enum class PostgresType : Oid { boolean = 16, bytes = 17, int8 = 20, int2 = 21, int4 = 23, text = 25, float8 = 701 };

// What the server or libpq says, on one line.
std::string said(const char* text) {
  std::string_view message = text == nullptr ? "" : text;
  if (const auto end = message.find('\n'); end != std::string_view::npos) message = message.substr(0, end);
  for (const std::string_view level : {"ERROR:  ", "FATAL:  "}) {
    if (message.starts_with(level)) message.remove_prefix(level.size());
  }
  return message.empty() ? "no reason was given" : printable(message);
}

// The second half of a run's lock.
int lock_of(std::string_view run) {
  const auto sum = crc32_z(0, reinterpret_cast<const unsigned char*>(run.data()), run.size());
  return std::bit_cast<int>(static_cast<unsigned>(sum));
}

// False: nothing came in time.
bool wait_for_socket(int descriptor, short events) {
  pollfd socket{.fd = descriptor, .events = events, .revents = 0};
  return ::poll(&socket, 1, look_ms) > 0;
}

// Keepalives notice within half a minute that the server's machine is gone.
// The place's own words, behind dbname, win over these.
constexpr std::array session_words = {"fallback_application_name", "keepalives_idle",  "keepalives_interval",
                                      "keepalives_count",          "tcp_user_timeout", "dbname"};
constexpr std::array session_values = {"infermeter", "10", "5", "3", "30000"};

// A database that waits for locks, or that does not flush a commit, is set otherwise; names are found in our schema
// only.
constexpr const char* session_settings =
    "SET client_encoding = 'UTF8'; SET search_path = infermeter; SET lock_timeout = '30s'; SET client_min_messages = "
    "'error'; "
    "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'";

int timeout_of(PGconn* connection) {
  int seconds = 0;
  PQconninfoOption* const options = libpq().PQconninfo(connection);
  for (const PQconninfoOption* option = options; option != nullptr && option->keyword != nullptr; ++option) {
    if (std::string_view(option->keyword) == "connect_timeout" && option->val != nullptr)
      seconds = std::atoi(option->val);
  }
  libpq().PQconninfoFree(options);
  return seconds > 0 ? seconds : connect_timeout_s;
}

Error not_connected(const StorePlace& place, std::string_view why) {
  return io_error(fmt::format("cannot connect to the store {}: {} (--store names another)", place.shown(), why));
}

Result<Done> connect(PGconn* connection, const StorePlace& place, const Waiting& waiting) {
  const int most_looks = timeout_of(connection) * 1000 / look_ms;
  int looks = 0;
  for (auto state = PGRES_POLLING_WRITING; state != PGRES_POLLING_OK; state = libpq().PQconnectPoll(connection)) {
    if (state == PGRES_POLLING_FAILED) return not_connected(place, said(libpq().PQerrorMessage(connection)));
    const auto events = static_cast<short>(state == PGRES_POLLING_READING ? POLLIN : POLLOUT);
    while (!wait_for_socket(libpq().PQsocket(connection), events)) {
      if (look_at_interrupts(waiting.interrupt) > 0) {
        return io_error(fmt::format("stopped while it connected to the store {}", place.shown()));
      }
      if (++looks > most_looks) return not_connected(place, "it does not answer");
    }
  }
  return Done{};
}

}  // namespace

// What is bound, in the binary form of its type.
struct PostgresDatabase::Parameters {
  std::vector<Oid> types;
  std::vector<std::string> owned;
  std::vector<std::span<const std::byte>> values;  // of texts and numbers: empty, as they are owned
  std::vector<bool> nulls;

  void add(PostgresType type, std::string value, std::span<const std::byte> borrowed = {}, bool null = false) {
    types.push_back(static_cast<Oid>(type));
    owned.push_back(std::move(value));
    values.push_back(borrowed);
    nulls.push_back(null);
  }
};

// Sent with its parameters by the first step; the rows are here then.
class PostgresStatement : public DriverStatement {
 public:
  PostgresStatement(std::string sql, const PostgresDatabase* database) : sql_(std::move(sql)), database_(database) {}

  // Bound in their order (Database::prepare).
  void bind(int, std::int64_t value) override {
    parameters_.add(PostgresType::int8, big_endian(std::bit_cast<std::uint64_t>(value)));
  }
  void bind(int, double value) override {
    parameters_.add(PostgresType::float8, big_endian(std::bit_cast<std::uint64_t>(value + 0.0)));  // as SQLite: no -0.0
  }
  void bind_null(int) override { parameters_.add(PostgresType::float8, {}, {}, true); }
  void bind(int, std::string_view text) override { parameters_.add(PostgresType::text, std::string(text)); }
  void bind(int, std::span<const std::byte> bytes) override { parameters_.add(PostgresType::bytes, {}, bytes); }

  Result<bool> step() override {
    if (!answer_) {
      INFERMETER_TRY(answer_, database_->ask(sql_, &parameters_));
    } else {
      ++row_;
    }
    return row_ < libpq().PQntuples(answer_.get());
  }

  ValueKind kind(int column) const override {
    if (is_null(column)) return ValueKind::null;
    switch (type_of(column)) {
      case PostgresType::boolean:
      case PostgresType::int2:
      case PostgresType::int4:
      case PostgresType::int8: return ValueKind::integer;
      case PostgresType::float8: return ValueKind::real;
      case PostgresType::bytes: return ValueKind::bytes;
      case PostgresType::text: return ValueKind::text;
    }
    return ValueKind::text;
  }
  std::int64_t integer(int column) const override {
    const auto value = bytes(column);
    switch (type_of(column)) {
      case PostgresType::boolean: return value.empty() ? 0 : static_cast<std::int64_t>(value[0]);
      case PostgresType::int2: return std::bit_cast<std::int16_t>(be16toh(read<std::uint16_t>(value)));
      case PostgresType::int4: return std::bit_cast<std::int32_t>(be32toh(read<std::uint32_t>(value)));
      case PostgresType::int8: return std::bit_cast<std::int64_t>(be64toh(read<std::uint64_t>(value)));
      case PostgresType::float8: return static_cast<std::int64_t>(real(column));
      default: return 0;
    }
  }
  double real(int column) const override {
    if (type_of(column) != PostgresType::float8) return static_cast<double>(integer(column));
    return std::bit_cast<double>(be64toh(read<std::uint64_t>(bytes(column))));
  }
  bool is_null(int column) const override {
    return !has(column) || libpq().PQgetisnull(answer_.get(), row_, column) != 0;
  }
  std::string text(int column) const override {
    const auto value = bytes(column);
    return {reinterpret_cast<const char*>(value.data()), value.size()};
  }
  std::span<const std::byte> bytes(int column) const override {
    if (is_null(column)) return {};
    return {reinterpret_cast<const std::byte*>(libpq().PQgetvalue(answer_.get(), row_, column)),
            static_cast<std::size_t>(libpq().PQgetlength(answer_.get(), row_, column))};
  }

 private:
  static std::string big_endian(std::uint64_t value) {
    value = htobe64(value);
    std::string text(sizeof value, '\0');
    std::memcpy(text.data(), &value, sizeof value);
    return text;
  }
  // 0 of a value that is not there.
  template <class Number>
  static Number read(std::span<const std::byte> bytes) {
    Number number = 0;
    if (bytes.size() == sizeof number) std::memcpy(&number, bytes.data(), sizeof number);
    return number;
  }
  [[nodiscard]] bool has(int column) const {
    return answer_ && row_ < libpq().PQntuples(answer_.get()) && column < libpq().PQnfields(answer_.get());
  }
  [[nodiscard]] PostgresType type_of(int column) const {
    return static_cast<PostgresType>(libpq().PQftype(answer_.get(), column));
  }

  std::string sql_;
  const PostgresDatabase* database_;
  PostgresDatabase::Parameters parameters_;
  PostgresDatabase::Answer answer_;
  int row_ = 0;
};

void PostgresDatabase::Finish::operator()(pg_conn* connection) const { libpq().PQfinish(connection); }
void PostgresDatabase::Clear::operator()(pg_result* result) const { libpq().PQclear(result); }

PostgresDatabase::PostgresDatabase(std::shared_ptr<pg_conn> connection, std::string name, const Waiting& waiting)
    : connection_(std::move(connection)), name_(std::move(name)), patience_(std::make_unique<Patience>(waiting)) {}

PostgresDatabase::~PostgresDatabase() = default;

Result<std::unique_ptr<PostgresDatabase>> PostgresDatabase::open(const StorePlace& place, const Waiting& waiting) {
  std::array<const char*, session_words.size() + 1> words{}, values{};
  std::ranges::copy(session_words, words.begin());
  std::ranges::copy(session_values, values.begin());
  values[session_values.size()] = place.connection().c_str();
  std::shared_ptr<pg_conn> connection(libpq().PQconnectStartParams(words.data(), values.data(), 1), Finish());
  if (!connection) return worker_error(fmt::format("memory ran out while connecting to the store {}", place.shown()));
  if (libpq().PQstatus(connection.get()) == CONNECTION_BAD) {
    return not_connected(place, said(libpq().PQerrorMessage(connection.get())));
  }
  INFERMETER_TRY_DONE(connect(connection.get(), place, waiting));
  libpq().PQsetNoticeProcessor(connection.get(), [](void*, const char*) {}, nullptr);
  if (const int version = libpq().PQserverVersion(connection.get()); version < oldest_server) {
    return not_connected(place, fmt::format("it is PostgreSQL {}, and a store needs 13 or newer", version / 10'000));
  }
  const char* const encoding = libpq().PQparameterStatus(connection.get(), "server_encoding");
  if (encoding == nullptr || std::string_view(encoding) != "UTF8") {
    return not_connected(place, fmt::format("its encoding is {}, and a store needs UTF8 (createdb --encoding UTF8)",
                                            printable(encoding == nullptr ? "not known" : encoding)));
  }
  std::unique_ptr<PostgresDatabase> database(new PostgresDatabase(std::move(connection), place.shown(), waiting));
  INFERMETER_TRY_DONE(database->execute(session_settings));
  return database;
}

std::string PostgresDatabase::user() const {
  const char* const name = libpq().PQuser(connection_.get());
  return printable(name == nullptr ? "" : name, 100);
}

void PostgresDatabase::have_heard(int interrupts) const { patience_->have_heard(interrupts); }

bool PostgresDatabase::in_transaction() const {
  const auto state = libpq().PQtransactionStatus(connection_.get());
  return state == PQTRANS_INTRANS || state == PQTRANS_INERROR || state == PQTRANS_ACTIVE;
}

bool PostgresDatabase::is_lost() const { return libpq().PQstatus(connection_.get()) == CONNECTION_BAD; }

Error PostgresDatabase::lost() const {
  const std::string why = said(libpq().PQerrorMessage(connection_.get()));
  if (!commits_ && !writes_)
    return io_error(fmt::format("the connection to the store {} was lost while it was read ({})", name_, why));
  return io_error(fmt::format("the connection to the store {} was lost ({}); {}", name_, why,
                              commits_ ? "it is not known whether a record that was being kept is in it "
                                         "(`infermeter runs` shows what is)"
                                       : "a record that was being kept is not in it"));
}

Error PostgresDatabase::error(const pg_result* result) const {
  if (libpq().PQstatus(connection_.get()) == CONNECTION_BAD) return lost();
  const char* const code = result == nullptr ? nullptr : libpq().PQresultErrorField(result, PG_DIAG_SQLSTATE);
  const std::string_view state = code == nullptr ? "" : code;
  const char* const primary = result == nullptr ? nullptr : libpq().PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
  const std::string why = said(primary == nullptr ? libpq().PQerrorMessage(connection_.get()) : primary);
  if (state == "57P01" || state == "57P02" || state.starts_with("08")) return lost();
  if (state == "57014" && patience_->interrupted()) {
    return io_error(fmt::format("stopped while it {} the store {}", writes_ ? "waited for" : "read", name_));
  }
  if (state == "42501") {
    return io_error(
        fmt::format("the user '{}' may not do this in the store {}: {} (its owner grants rights, "
                    "docs/store.md)",
                    user(), name_, why));
  }
  if (state == "25006") return io_error(fmt::format("cannot write to the store {}: it is read-only ({})", name_, why));
  if (state == "55P03" || state.starts_with("40")) {
    return io_error(fmt::format("the store {} is held by another program that does not let go of it ({})", name_, why));
  }
  if (state == "53100") {
    return io_error(
        fmt::format("cannot write to the store {}: the server's disk is full; what it held before is intact", name_));
  }
  if (state.starts_with("22") || state.starts_with("54")) {
    return io_error(fmt::format("the store {} cannot keep a value: {}", name_, why));
  }
  return io_error(fmt::format("the store {} failed: {}", name_, why));
}

Result<Done> PostgresDatabase::wait_for_answer() const {
  PGconn* const connection = connection_.get();
  int looks = 0;
  bool cancelled = false;
  while (true) {
    const int unsent = libpq().PQflush(connection);
    if (unsent < 0 || libpq().PQconsumeInput(connection) == 0) return lost();
    if (unsent == 0 && libpq().PQisBusy(connection) == 0) return Done{};
    if (wait_for_socket(libpq().PQsocket(connection), static_cast<short>(unsent == 0 ? POLLIN : POLLIN | POLLOUT)))
      continue;
    if (cancelled || !patience_->interrupted()) continue;
    if (writes_ && ++looks < looks_before_cancel) continue;
    cancelled = true;
    std::array<char, 256> reason{};
    if (PGcancel* const cancel = libpq().PQgetCancel(connection); cancel != nullptr) {
      libpq().PQcancel(cancel, reason.data(), reason.size());
      libpq().PQfreeCancel(cancel);
    }
  }
}

Result<PostgresDatabase::Answer> PostgresDatabase::ask(const std::string& sql, const Parameters* parameters) const {
  PGconn* const connection = connection_.get();
  if (libpq().PQstatus(connection) == CONNECTION_BAD) return lost();
  if (heeds_signals_ && !writes_ && patience_->interrupted()) {
    return io_error(fmt::format("stopped while it read the store {}", name_));
  }
  libpq().PQsetnonblocking(connection, 1);
  int sent = 0;
  if (parameters == nullptr) {
    sent = libpq().PQsendQuery(connection, sql.c_str());
  } else {
    const auto count = parameters->types.size();
    std::vector<const char*> values(count);
    std::vector<int> lengths(count), formats(count, 1);
    for (std::size_t i = 0; i < count; ++i) {
      const auto& borrowed = parameters->values[i];
      const bool is_borrowed = !borrowed.empty();
      lengths[i] = static_cast<int>(is_borrowed ? borrowed.size() : parameters->owned[i].size());
      values[i] = is_borrowed ? reinterpret_cast<const char*>(borrowed.data()) : parameters->owned[i].data();
      if (parameters->nulls[i]) values[i] = nullptr;
    }
    sent = libpq().PQsendQueryParams(connection, sql.c_str(), static_cast<int>(count), parameters->types.data(),
                                     values.data(), lengths.data(), formats.data(), 1);
  }
  if (sent == 0) return error(nullptr);
  Answer last;
  while (true) {
    INFERMETER_TRY_DONE(wait_for_answer());
    Answer answer(libpq().PQgetResult(connection));
    if (!answer) break;
    // The first error of several statements is the one that counts.
    if (!last || libpq().PQresultStatus(last.get()) != PGRES_FATAL_ERROR) last = std::move(answer);
  }
  if (!last) return error(nullptr);
  const auto status = libpq().PQresultStatus(last.get());
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) return error(last.get());
  changed_rows_ = std::atoll(libpq().PQcmdTuples(last.get()));
  return last;
}

Result<Done> PostgresDatabase::execute(const char* sql) const {
  INFERMETER_TRY_DONE(ask(in_postgres(sql), nullptr));
  return Done{};
}

Result<Statement> PostgresDatabase::prepare_only(std::string_view sql) const {
  return Statement(std::make_unique<PostgresStatement>(in_postgres(sql), this));
}

Result<Done> PostgresDatabase::begin(Purpose purpose) const {
  if (purpose == Purpose::reading) return execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
  writes_ = true;
  auto begun = execute("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE");
  writes_ = begun.ok();
  return begun;
}

Result<Done> PostgresDatabase::commit() const {
  commits_ = writes_;
  auto committed = ask("COMMIT", nullptr);
  commits_ = false;
  if (!committed.ok()) return committed.error();
  writes_ = false;
  // Of a transaction that failed before, COMMIT is a ROLLBACK.
  if (std::string_view(libpq().PQcmdStatus(committed->get())) == "COMMIT") return Done{};
  return io_error(fmt::format("the store {} did not keep a record: the transaction had failed", name_));
}

void PostgresDatabase::roll_back() const {
  if (in_transaction()) static_cast<void>(execute("ROLLBACK").ok());
  writes_ = false;
}

Result<std::shared_ptr<void>> PostgresDatabase::take_run_lock(std::string_view run) const {
  const int lock = lock_of(run);
  // A connection may have a lock twice, so that its own threads would not keep each other out.
  if (is_run_locked(run)) return std::shared_ptr<void>();
  INFERMETER_TRY(const auto taken, integer(fmt::format("SELECT pg_try_advisory_lock({}, {})", lock_class, lock)));
  if (taken == 0) return std::shared_ptr<void>();
  const auto unlock = [connection = connection_, lock](void*) {
    const auto sql = fmt::format("SELECT pg_advisory_unlock({}, {})", lock_class, lock);
    libpq().PQsetnonblocking(connection.get(), 0);
    const Answer answer(libpq().PQexec(connection.get(), sql.c_str()));  // where the connection is lost, so is the lock
  };
  return std::shared_ptr<void>(connection_.get(), unlock);
}

bool PostgresDatabase::is_run_locked(std::string_view run) const {
  const auto locks =
      integer(fmt::format("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 2 "
                          "AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) "
                          "AND classid = {} AND objid = {}",
                          lock_class, static_cast<unsigned>(lock_of(run))));
  return locks.ok() && *locks > 0;
}

}  // namespace infermeter
