/**
 * The access log: a line for each read that reached the daemon and each fetch, sampled and bounded.
 * Entry type: {@link io.holdfast.fs.accesslog.AccessLogWriter}.
 */
@NullMarked
package io.holdfast.fs.accesslog;

import org.jspecify.annotations.NullMarked;
