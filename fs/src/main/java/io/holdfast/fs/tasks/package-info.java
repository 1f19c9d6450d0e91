/**
 * What an admin has the daemon do with what is in memory: warm it, pin and unpin, drop, change the
 * capacity. Each is a task that runs on threads of its own and is followed by asking for its
 * progress. Entry type: {@link io.holdfast.fs.tasks.Tasks}.
 */
@NullMarked
package io.holdfast.fs.tasks;

import org.jspecify.annotations.NullMarked;
