/**
 * The link between the nodes that share a dataset: membership, ownership of items, and transfer of
 * their bytes. Knows neither FUSE nor policies nor the files of a dataset.
 */
@NullMarked
package io.holdfast.peer;

import org.jspecify.annotations.NullMarked;
