/**
 * This node as a member of its cluster: the items it keeps, the peers it fetches other items from,
 * and its answers to peers. Connects {@code io.holdfast.peer}, which knows no files, to transit and
 * residency.
 */
@NullMarked
package io.holdfast.fs.peers;

import org.jspecify.annotations.NullMarked;
