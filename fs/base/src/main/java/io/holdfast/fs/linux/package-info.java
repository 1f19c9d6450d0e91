/**
 * The operating system as Holdfast sees it: system calls, native memory, and threads with a
 * descriptor table of their own. Start with {@link io.holdfast.fs.linux.Linux}.
 */
@NullMarked
package io.holdfast.fs.linux;

import org.jspecify.annotations.NullMarked;
