/**
 * Whatever goes wrong, Holdfast never hangs, never gives wrong bytes and never grows: {@link
 * io.holdfast.chaos.Chaos} injects faults at random into a small cluster while readers verify every
 * byte. {@code packaging/chaos} runs it.
 */
@NullMarked
package io.holdfast.chaos;

import org.jspecify.annotations.NullMarked;
