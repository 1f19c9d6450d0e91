/**
 * What is made from the definition of the commands, as is their help: pages of the manual,
 * completions for shells, a sample of a mount's file. Starts at {@link
 * io.holdfast.fs.manual.Definition}.
 */
@NullMarked
package io.holdfast.fs.manual;

import org.jspecify.annotations.NullMarked;
