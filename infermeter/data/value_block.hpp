// Values <-> one block of bytes, as it crosses the process wall in shared memory. Every offset is checked on reading:
// the other side may have been overwritten by a runtime that went wild.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "infermeter/data/tensor.hpp"
#include "infermeter/diagnostics/result.hpp"

namespace infermeter {

// Layout: magic, version, count, then per item its values; data 64-byte aligned.
[[nodiscard]] std::size_t block_size(std::span<const ItemValues> items);
void write_block(std::span<const ItemValues> items, std::span<std::byte> block);  // block.size() == block_size(items)

// The values view into `block`, which `owner` keeps alive; no copies (strings excepted). `most_bytes`: of memory that
// the values themselves may take beside it; without it four times the block and 64 MiB.
[[nodiscard]] Result<std::vector<ItemValues>> read_block(std::span<const std::byte> block,
                                                         std::shared_ptr<const void> owner,
                                                         std::optional<std::uint64_t> most_bytes = {});

}  // namespace infermeter
