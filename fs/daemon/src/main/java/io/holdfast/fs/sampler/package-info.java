/**
 * The orders in which the samplers of training frameworks visit a dataset, computed as the
 * framework computes them. {@link io.holdfast.fs.sampler.TorchSampler} is the entry. Nothing here
 * reads a file or knows of a mount.
 */
@NullMarked
package io.holdfast.fs.sampler;

import org.jspecify.annotations.NullMarked;
