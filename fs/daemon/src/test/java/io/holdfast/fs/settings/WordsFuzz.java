package io.holdfast.fs.settings;

import io.holdfast.fs.FuzzInput;
import io.holdfast.fs.residency.Selection;
import io.holdfast.fs.units.Durations;
import io.holdfast.fs.units.Sizes;
import io.holdfast.peer.NodeAddress;
import io.holdfast.peer.membership.Discovery;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.Consumer;

/**
 * Texts for options, environment and file: they are understood, or refused in one line. Run by
 * packaging/fuzz.
 */
public final class WordsFuzz {
  private static final List<Consumer<String>> PARSERS =
      List.of(
          text -> Sizes.exact(Sizes.parse(text)),
          text -> Sizes.parse(text, 1L << 40),
          text -> Durations.exact(Durations.parse(text)),
          NodeAddress::parse,
          Discovery::parse,
          Source::parse,
          text -> Selection.of(List.of(text), List.of()));

  private WordsFuzz() {}

  /** One input. */
  public static void fuzzerTestOneInput(byte[] bytes) {
    FuzzInput input = new FuzzInput(bytes);
    Consumer<String> parser = PARSERS.get(input.next() % PARSERS.size());
    String text = new String(input.rest(), StandardCharsets.UTF_8);
    try {
      parser.accept(text);
    } catch (IllegalArgumentException e) {
      if (String.valueOf(e.getMessage()).isBlank()) {
        throw new AssertionError("refused without a word", e);
      }
    }
  }
}
