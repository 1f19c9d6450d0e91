package io.holdfast.fs.mount;

import java.nio.file.Path;
import java.time.Duration;

/**
 * How to mount. Immutable.
 *
 * @param mountpoint an existing directory
 * @param source what the mount table shows as the device
 * @param metadataTtl how long the kernel may keep names, missing names and attributes
 * @param allowOther whether other users may use the mount
 * @param answerOpens answer each open, instead of telling the kernel once not to ask
 * @param extendedAttributes whether there are any; else the kernel is told once not to ask
 * @param acls whether the kernel is to decide by access control lists, where the binding can have
 *     it so; it asks for that of each file then. Only with extended attributes
 */
public record MountOptions(
    Path mountpoint,
    String source,
    Duration metadataTtl,
    boolean allowOther,
    boolean answerOpens,
    boolean extendedAttributes,
    boolean acls) {}
