/**
 * The plan that the nodes of a cluster follow where the orders of all ranks of a job are known: who
 * keeps which file, and whom its reader asks. {@link io.holdfast.fs.plan.Plans} is the entry.
 */
@NullMarked
package io.holdfast.fs.plan;

import org.jspecify.annotations.NullMarked;
