/**
 * The orders in which jobs will read the dataset: announced by the socket or found from opens,
 * followed from the jobs' opens, and used to fetch files ahead of their readers. Entry type: {@link
 * io.holdfast.fs.orders.Orders}.
 */
@NullMarked
package io.holdfast.fs.orders;

import org.jspecify.annotations.NullMarked;
