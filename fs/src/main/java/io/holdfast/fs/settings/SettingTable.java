package io.holdfast.fs.cli;

import io.holdfast.fs.daemon.Settings;
import io.holdfast.fs.daemon.Source;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParseResult;

/**
 * What there is to say of a mount, as the annotations of {@link MountOptions} define it: the only
 * definition of an option's name, its values and its meaning. The environment, the file and the
 * documents follow from it. Stateless.
 */
final class OptionTable {
  /** In the place of a directory: there is to be none. */
  static final String NONE = "none";

  private static final Map<String, String> BOOLEANS =
      Map.of(
          "true", "true", "yes", "true", "on", "true", "false", "false", "no", "false", "off",
          "false");

  private static final Map<Settings.Key, OptionSpec> OPTIONS = options();

  private OptionTable() {}

  /** The options of mount, those for other processes of this program included. */
  @Command
  static final class Parsed {
    @ArgGroup(validate = false, exclusive = false)
    MountOptions options = new MountOptions();

    @Option(names = "--from", hidden = true)
    List<String> from = new ArrayList<>();

    private @Nullable ParseResult result;

    /** Reads words. */
    static Parsed of(List<String> words) {
      Parsed parsed = new Parsed();
      parsed.result = new CommandLine(parsed).parseArgs(words.toArray(String[]::new));
      return parsed;
    }

    /** Returns what the words said. */
    GivenSettings given() {
      return result == null ? GivenSettings.NOTHING : GivenSettings.ofFlags(result);
    }
  }

  private static Map<Settings.Key, OptionSpec> options() {
    Map<Settings.Key, OptionSpec> options = new EnumMap<>(Settings.Key.class);
    for (OptionSpec option : new CommandLine(new Parsed()).getCommandSpec().options()) {
      if (!option.hidden()) {
        options.put(key(option).orElseThrow(), option);
      }
    }
    return options;
  }

  /** Returns the setting that an option is of; empty for options such as --help. */
  static Optional<Settings.Key> key(OptionSpec option) {
    return key(option.longestName().substring(2));
  }

  /** Returns the setting of that name: {@code item-size}. */
  static Optional<Settings.Key> key(String text) {
    for (Settings.Key key : Settings.Key.values()) {
      if (key.text().equals(text)) {
        return Optional.of(key);
      }
    }
    return Optional.empty();
  }

  /** Returns the definition of a setting's option; empty for the arguments. */
  static Optional<OptionSpec> option(Settings.Key key) {
    return Optional.ofNullable(OPTIONS.get(key));
  }

  /** Returns what the values of a setting look like, for messages. */
  static String form(Settings.Key key) {
    if (isBoolean(key)) {
      return "true|false";
    }
    return option(key)
        .map(OptionSpec::paramLabel)
        .orElseGet(() -> key.text().toUpperCase(Locale.ROOT));
  }

  /** Tells whether a setting is on or off. */
  static boolean isBoolean(Settings.Key key) {
    return option(key).filter(option -> option.type() == Boolean.class).isPresent();
  }

  /** Tells whether an option may be given several times. */
  static boolean isList(Settings.Key key) {
    return option(key).filter(OptionSpec::isMultiValue).isPresent();
  }

  /** Tells whether the one value of an option is several, with commas between. */
  static boolean isCommaList(Settings.Key key) {
    return form(key).contains(",...");
  }

  /** Tells whether a value is a path of this machine, and not a URL or {@link #NONE}. */
  static boolean isPath(Settings.Key key, String value) {
    Optional<OptionSpec> option = option(key);
    if (option.isEmpty()) {
      return !Source.URL.matcher(value).matches();
    }
    return option.get().type() == Path.class && !value.equals(NONE);
  }

  /**
   * Makes one text of those that mean the same.
   *
   * @throws IllegalArgumentException where a boolean is none
   */
  static String normal(Settings.Key key, String value) {
    if (isBoolean(key)) {
      String known = BOOLEANS.get(value);
      if (known == null) {
        throw new IllegalArgumentException("'" + value + "' is not known: write true or false");
      }
      return known;
    }
    // Another process may have another directory.
    return isPath(key, value) ? Path.of(value).toAbsolutePath().normalize().toString() : value;
  }
}
