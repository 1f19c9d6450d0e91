package io.holdfast.fs.transit;

import io.holdfast.fs.origin.OriginPath;
import io.holdfast.fs.origin.Version;
import java.util.function.Supplier;

/**
 * One version of one file's content. Immutable.
 *
 * @param node the tree's node
 * @param path the file's path at the origin; built only when a fetch needs it
 * @param version the version of every byte
 */
public record Content(long node, Supplier<OriginPath> path, Version version) {}
