/**
 * What can be set for a mount. {@link io.holdfast.fs.settings.SettingTable} has a row for each
 * setting, which is its only definition; command line, environment, a mount's file, help, manual
 * and {@code holdfast config} follow from it. {@link io.holdfast.fs.settings.Given} is what
 * somebody said and where, {@link io.holdfast.fs.settings.Settings} what holds in the end, and
 * {@link io.holdfast.fs.settings.SettingsDocument} how a daemon learns of both.
 */
@NullMarked
package io.holdfast.fs.settings;

import org.jspecify.annotations.NullMarked;
