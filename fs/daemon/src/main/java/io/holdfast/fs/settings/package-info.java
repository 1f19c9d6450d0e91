/**
 * The settings of a mount. {@link io.holdfast.fs.settings.SettingTable} has a row for each setting,
 * which is its only definition; command line, environment, a mount's file, help, manual and {@code
 * holdfast config} follow from it. {@link io.holdfast.fs.settings.Given} is a value that the user
 * gave, and where; {@link io.holdfast.fs.settings.Settings} are the effective values; {@link
 * io.holdfast.fs.settings.SettingsDocument} brings both to the daemon.
 */
@NullMarked
package io.holdfast.fs.settings;

import org.jspecify.annotations.NullMarked;
