// What is right, from a file of its own: class indices and masks for the items of a data set.
#pragma once

#include "infermeter/data/data_set.hpp"

namespace infermeter {

// Reads options.labels, if it is given, into the items of `set`, which was made with the same options:
//   - text: a class index per line; or NAME,INDEX per line, where the items are pictures of a folder and NAME is a
//     picture's path in that folder, or its file name alone. Empty lines and lines that begin with # are left out;
//   - .npy of integers [N] or [N, 1]: a class index per row, which is an element of a batch;
//   - .npy of integers or booleans [N, …]: a mask per row;
//   - next_labels: the items have one input, of integers; the label of each of its values is the one that follows, and
//     of the last it is not known.
// The index -1 stands for "not known". Every row of the data has one, those that the batch size leaves over included;
// with options.limit a file for the wanted items alone will do. Errors name the file and the line or the row.
[[nodiscard]] Result<Done> attach_labels(DataSet& set, const DataOptions& options);

// The errors of attach_labels for the whole source, of which `sample` has the first item.
[[nodiscard]] Result<Done> check_labels(const DataSet& sample, const DataOptions& options);
// As far as the file itself says.
[[nodiscard]] Result<Done> check_labels_file(const std::string& file);

}  // namespace infermeter
