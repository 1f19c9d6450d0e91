/**
 * Links between the nodes that share a dataset: who is there, who owns an item, and how its bytes
 * travel. Knows neither FUSE nor policies nor the files of a dataset.
 */
@NullMarked
package io.holdfast.peer;

import org.jspecify.annotations.NullMarked;
