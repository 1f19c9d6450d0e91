/**
 * A real S3 server for tests, as a process of its own, and a proxy to count and disturb what goes
 * there. Knows nothing of Holdfast.
 */
@NullMarked
package io.holdfast.s3server;

import org.jspecify.annotations.NullMarked;
