/**
 * The tasks of an admin on the contents of memory: warm, pin, unpin, drop, and change the capacity.
 * Each task runs on threads of its own, and a client follows it by asking for its progress. Entry
 * type: {@link io.holdfast.fs.tasks.Tasks}.
 */
@NullMarked
package io.holdfast.fs.tasks;

import org.jspecify.annotations.NullMarked;
