package io.holdfast.fs.mount;

import java.nio.file.Path;
import java.time.Duration;

/**
 * The options of a mount. Immutable.
 *
 * @param mountpoint an existing directory
 * @param source the text that the mount table shows as the device
 * @param metadataTtl how long the kernel may keep names, missing names and attributes
 * @param allowOther whether other users may use the mount
 * @param answerOpens whether to answer each open, instead of telling the kernel once not to ask
 * @param extendedAttributes whether there are extended attributes; else the kernel is told once not
 *     to ask
 * @param acls whether the kernel is to decide by access control lists, if the binding can do that;
 *     the kernel then asks for the list of each file. Only with extended attributes
 */
public record MountOptions(
    Path mountpoint,
    String source,
    Duration metadataTtl,
    boolean allowOther,
    boolean answerOpens,
    boolean extendedAttributes,
    boolean acls) {}
