package io.holdfast.fs.web;

import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A request for reading: GET or HEAD. Immutable.
 *
 * @param path the path, decoded and without the query; empty if the request has none
 * @param headers returns the first header of a name, or null
 */
public record WebRequest(String path, Function<String, @Nullable String> headers) {
  /** Returns the first header of that name. */
  public Optional<String> header(String name) {
    return Optional.ofNullable(headers.apply(name));
  }
}
