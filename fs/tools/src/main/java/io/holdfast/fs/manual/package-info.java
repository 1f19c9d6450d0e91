/**
 * Texts from the definition of the commands, from which their help comes too: pages of the manual,
 * completions for shells, a sample of a mount's file. Starts at {@link
 * io.holdfast.fs.manual.Definition}.
 */
@NullMarked
package io.holdfast.fs.manual;

import org.jspecify.annotations.NullMarked;
