/**
 * The settings that a mount is asked to have: {@link io.holdfast.fs.settings.request.ConfigLookup}
 * adds to the words of a command line what the environment and the mount's file say, and {@link
 * io.holdfast.fs.settings.request.MountRequest} makes settings of all that, with the defaults of
 * this user on this machine. {@link io.holdfast.fs.settings.request.NodeFile} reads the file of the
 * node beside those of its mounts.
 */
@NullMarked
package io.holdfast.fs.settings.request;

import org.jspecify.annotations.NullMarked;
