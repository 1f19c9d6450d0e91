package io.holdfast.fs.cli;

import io.holdfast.fs.daemon.Settings;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParseResult;

/** What was said of a mount, each with where, before anybody looks at what it means. Immutable. */
final class GivenSettings {
  /** Nothing was said. */
  static final GivenSettings NOTHING = new GivenSettings(List.of());

  /**
   * Between the values of a variable that stands for an option which may be given several times.
   */
  private static final String SEPARATOR = ":";

  /** Not among the words of options: the arguments, and what the process itself decides. */
  private static final Set<Settings.Key> NO_WORDS =
      EnumSet.of(Settings.Key.SOURCE, Settings.Key.MOUNTPOINT, Settings.Key.FOREGROUND);

  private final Map<Settings.Key, Given> all = new EnumMap<>(Settings.Key.class);

  private GivenSettings(Collection<Given> given) {
    given.forEach(one -> all.put(one.key(), one));
  }

  /** Collects; of what is there twice, the last. */
  static GivenSettings of(Collection<Given> given) {
    return new GivenSettings(given);
  }

  /** Takes the options of a command line. */
  static GivenSettings ofFlags(ParseResult parsed) {
    List<Given> given = new ArrayList<>();
    for (OptionSpec option : parsed.matchedOptions()) {
      OptionTable.key(option)
          .filter(key -> OptionTable.option(key).isPresent())
          .ifPresent(key -> given.add(Given.flag(key, values(key, option))));
    }
    return of(given);
  }

  private static List<String> values(Settings.Key key, OptionSpec option) {
    // What picocli has as the text of --no-x is that of --x.
    List<String> texts =
        OptionTable.isBoolean(key)
            ? List.of(String.valueOf(option.<Object>getValue()))
            : option.stringValues();
    return texts.stream().map(text -> OptionTable.normal(key, text)).toList();
  }

  /**
   * Takes the variables HOLDFAST_...; an empty one says nothing.
   *
   * @throws CliException when one cannot be right
   */
  static GivenSettings ofEnvironment(Map<String, String> environment) {
    List<Given> given = new ArrayList<>();
    for (Settings.Key key : Settings.Key.values()) {
      String text = environment.getOrDefault(Given.variable(key), "");
      if (!text.isEmpty()) {
        List<String> values =
            OptionTable.isList(key) ? Arrays.asList(text.split(SEPARATOR)) : List.of(text);
        given.add(Given.variable(key, normal(key, values)));
      }
    }
    return of(given);
  }

  private static List<String> normal(Settings.Key key, List<String> values) {
    try {
      return values.stream().map(value -> OptionTable.normal(key, value)).toList();
    } catch (IllegalArgumentException e) {
      throw CliException.usage(Given.variable(key) + " " + e.getMessage());
    }
  }

  Optional<Given> get(Settings.Key key) {
    return Optional.ofNullable(all.get(key));
  }

  /** Adds something, or puts it in the place of what was said of the same setting. */
  GivenSettings with(Given one) {
    return of(List.of(one)).orElse(this);
  }

  /** Adds what another has of settings that this one says nothing of. */
  GivenSettings orElse(GivenSettings other) {
    List<Given> both = new ArrayList<>(other.all.values());
    both.addAll(all.values());
    return of(both);
  }

  /** Leaves out what does not pass. */
  GivenSettings filter(Predicate<Given> passes) {
    return of(all.values().stream().filter(passes).toList());
  }

  /**
   * Takes back what {@link #words()} says of sources.
   *
   * @param from a setting's name, an equals sign and the source
   */
  GivenSettings withSources(List<String> from) {
    GivenSettings result = this;
    for (String each : from) {
      int equals = each.indexOf('=');
      Optional<Given> one = OptionTable.key(each.substring(0, equals)).flatMap(this::get);
      if (one.isPresent()) {
        String source = each.substring(equals + 1);
        result = result.with(new Given(one.get().key(), one.get().values(), source));
      }
    }
    return result;
  }

  /**
   * Returns the words that make another process of this program know the same, but for the
   * arguments, and whether it is in the foreground.
   */
  List<String> words() {
    List<String> words = new ArrayList<>();
    for (Given one : all.values()) {
      if (!NO_WORDS.contains(one.key())) {
        one.values().forEach(value -> words.add(word(one.key(), value)));
      }
    }
    for (Given one : all.values()) {
      boolean usual =
          one.source().equals(Given.ARGUMENT)
              || one.source().equals(Given.flag(one.key(), one.values()).source());
      if (!usual) {
        words.add("--from=" + one.key().text() + "=" + one.source());
      }
    }
    return words;
  }

  /** In one word, so that a value which begins with a dash is none the less the option's. */
  private static String word(Settings.Key key, String value) {
    if (OptionTable.isBoolean(key)) {
      return (value.equals("true") ? "--" : "--no-") + key.text();
    }
    return "--" + key.text() + "=" + value;
  }

  /** Returns a message that begins with an option with what was written instead of that option. */
  String relabelled(String message) {
    for (Given one : all.values()) {
      String flag = "--" + one.key().text() + " ";
      if (message.startsWith(flag)) {
        return one.label() + " " + message.substring(flag.length());
      }
    }
    return message;
  }
}
