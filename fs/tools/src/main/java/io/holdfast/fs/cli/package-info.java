/**
 * The command line: {@link io.holdfast.fs.cli.Holdfast} has the main method, each command is a
 * class. A command reads its words and prints what came out; the packages behind it do the work.
 */
@NullMarked
package io.holdfast.fs.cli;

import org.jspecify.annotations.NullMarked;
