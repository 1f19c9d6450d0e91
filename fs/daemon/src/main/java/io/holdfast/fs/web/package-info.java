/**
 * HTTP for people and programs that look at a mount: {@link io.holdfast.fs.web.WebServer} bounds
 * connections, threads and time, and passes each request to a {@link io.holdfast.fs.web.Site}.
 * Knows no figures.
 */
@NullMarked
package io.holdfast.fs.web;

import org.jspecify.annotations.NullMarked;
