package io.holdfast.fs.cli;

import io.holdfast.fs.daemon.Settings;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Collects the words of a command line. Not thread-safe. */
final class Words {
  private final List<String> words = new ArrayList<>();

  void add(String word) {
    words.add(word);
  }

  /** In one word, so that a value which begins with a dash is none the less the option's. */
  void add(Settings.Key key, @Nullable String value) {
    if (value != null) {
      words.add("--" + key.text() + "=" + value);
    }
  }

  void add(Settings.Key key, @Nullable Path value) {
    add(key, value == null ? null : value.toString());
  }

  /** The option alone, where it is set. */
  void flag(Settings.Key key, @Nullable Boolean value) {
    if (Boolean.TRUE.equals(value)) {
      words.add("--" + key.text());
    }
  }

  /** Once for each value. */
  void add(Settings.Key key, @Nullable List<String> values) {
    if (values != null) {
      values.forEach(value -> add(key, value));
    }
  }

  List<String> list() {
    return List.copyOf(words);
  }
}
