// libpq, loaded when the first store is a database and not with the program: it brings twenty libraries (TLS,
// Kerberos, LDAP), which take 4 ms of each start and that no other command needs.
#pragma once

#include <libpq-fe.h>

#include "infermeter/diagnostics/result.hpp"

namespace infermeter {

// Its functions that a store uses, under their own names.
#define INFERMETER_LIBPQ_FUNCTIONS(USE) \
  USE(PQcancel)                         \
  USE(PQclear)                          \
  USE(PQcmdStatus)                      \
  USE(PQcmdTuples)                      \
  USE(PQconnectPoll)                    \
  USE(PQconnectStartParams)             \
  USE(PQconninfo)                       \
  USE(PQconninfoFree)                   \
  USE(PQconninfoParse)                  \
  USE(PQconsumeInput)                   \
  USE(PQerrorMessage)                   \
  USE(PQexec)                           \
  USE(PQfinish)                         \
  USE(PQflush)                          \
  USE(PQfreeCancel)                     \
  USE(PQfreemem)                        \
  USE(PQftype)                          \
  USE(PQgetCancel)                      \
  USE(PQgetResult)                      \
  USE(PQgetisnull)                      \
  USE(PQgetlength)                      \
  USE(PQgetvalue)                       \
  USE(PQisBusy)                         \
  USE(PQnfields)                        \
  USE(PQntuples)                        \
  USE(PQparameterStatus)                \
  USE(PQresultErrorField)               \
  USE(PQresultStatus)                   \
  USE(PQsendQuery)                      \
  USE(PQsendQueryParams)                \
  USE(PQserverVersion)                  \
  USE(PQsetNoticeProcessor)             \
  USE(PQsetnonblocking)                 \
  USE(PQsocket)                         \
  USE(PQstatus)                         \
  USE(PQtransactionStatus)              \
  USE(PQuser)

struct Libpq {
#define INFERMETER_LIBPQ_MEMBER(name) decltype(&::name) name = nullptr;
  INFERMETER_LIBPQ_FUNCTIONS(INFERMETER_LIBPQ_MEMBER)
#undef INFERMETER_LIBPQ_MEMBER
};

// Loaded once per process. Errors: it is not installed, or lacks one of these.
[[nodiscard]] Result<Done> load_libpq();

// After load_libpq() went well, as it did for each StorePlace of a database.
[[nodiscard]] const Libpq& libpq();

}  // namespace infermeter
