/** The commands that a newcomer begins with: what they say and install, tried without doing it. */
@NullMarked
package io.holdfast.commands;

import org.jspecify.annotations.NullMarked;
