package io.holdfast.fs.throughput;

import java.util.OptionalDouble;

/**
 * The rates of a job in bytes per second; empty where they cannot be told. Immutable.
 *
 * @param origin S: what the origin gives to it. If it scales with requests at once, what it gives
 *     to all readers when all wait for it
 * @param originAtLeast what the origin gave where S cannot be told, because readers hardly waited
 *     for it; empty where S is told, or nothing came from it
 * @param peer N: what its peers give to it
 * @param memory C: what resident files are read at
 * @param preparation P: what its readers prepare, with the processors that they have
 * @param perProcessor what one of them prepares with a processor of its own
 * @param processors those that readers can use; with more readers than these they prepare no more
 * @param accelerator G: what its consumer takes
 * @param acceleratorIsLimit whether the consumer was seen to limit; else it takes at least that
 */
public record Rates(
    OptionalDouble origin,
    OptionalDouble originAtLeast,
    OptionalDouble peer,
    OptionalDouble memory,
    OptionalDouble preparation,
    OptionalDouble perProcessor,
    int processors,
    OptionalDouble accelerator,
    boolean acceleratorIsLimit) {}
