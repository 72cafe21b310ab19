// The checksum of a stored record: what shows a record that was changed on its way to the disk, on it, or back.
#pragma once

struct sqlite3;

namespace infermeter {

// Makes the SQL function digest(value, …): CRC-32 (ISO 3309, as in gzip) over the types, lengths and bytes of its
// values. False: memory ran out.
[[nodiscard]] bool add_digest_function(sqlite3* database);

}  // namespace infermeter
