/**
 * This node among its peers: which items are its own to keep, where others are fetched from, and
 * what it answers when it is asked. Adapts {@code io.holdfast.peer}, which knows no files, to
 * transit and residency.
 */
@NullMarked
package io.holdfast.fs.peers;

import org.jspecify.annotations.NullMarked;
