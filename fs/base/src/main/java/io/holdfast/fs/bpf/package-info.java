/**
 * Programs that Holdfast gives the kernel (BPF), so that the kernel answers by itself what a daemon
 * would be asked otherwise. Start with {@link io.holdfast.fs.bpf.TerminalAnswer}.
 */
@NullMarked
package io.holdfast.fs.bpf;

import org.jspecify.annotations.NullMarked;
