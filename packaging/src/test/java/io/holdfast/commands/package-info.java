/**
 * The commands that a newcomer begins with, and the supervisor: what they say, without doing it.
 */
@NullMarked
package io.holdfast.commands;

import org.jspecify.annotations.NullMarked;
