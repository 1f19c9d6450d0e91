/**
 * Programs that Holdfast gives the kernel (BPF), so that the kernel does by itself what would be a
 * message to the daemon, or an event for it. Start with {@link io.holdfast.fs.bpf.KernelPrograms}.
 */
@NullMarked
package io.holdfast.fs.bpf;

import org.jspecify.annotations.NullMarked;
