package io.holdfast.fs.cli;

import io.holdfast.fs.settings.Given;
import io.holdfast.fs.settings.GivenSettings;
import io.holdfast.fs.settings.Group;
import io.holdfast.fs.settings.Setting;
import io.holdfast.fs.settings.SettingTable;
import io.holdfast.fs.settings.Settings;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParseResult;

/**
 * The command line of a daemon: everything that was said, so that it need not ask the environment
 * and the file again, and the next one, should it die, is the same. Immutable.
 *
 * @param program the words that start another process of this program
 * @param given what was said, each with where
 * @param notes lines for its log
 */
record DaemonWords(List<String> program, GivenSettings given, List<String> notes) {
  /** Says where a value came from: the setting's name, an equals sign and the source. */
  static final String FROM = "--from";

  /** What the launcher gives to a virtual machine that is to compute nothing much. */
  private static final String LITTLE_COMPILING = "-XX:TieredStopAtLevel=1";

  /**
   * Returns the words.
   *
   * @param how the option that makes it a daemon
   * @param settings with the paths as they were found to be
   */
  List<String> of(String how, Settings settings) {
    List<String> words = new ArrayList<>(program);
    if (settings.peers().isPresent()) {
      // Proofs are computed, and the launcher does not read the file that may ask for them.
      words.remove(LITTLE_COMPILING);
    }
    words.addAll(List.of("mount", how));
    notes.forEach(line -> words.add("--note=" + line));
    for (Given one : given.all()) {
      if (isOption(one)) {
        one.values().forEach(value -> words.add(word(one.setting(), value)));
      }
    }
    for (Given one : given.all()) {
      if (!isUsual(one)) {
        words.add(FROM + "=" + one.setting().name() + "=" + one.source());
      }
    }
    // Behind two dashes also a path that begins with one is a path.
    String origin = settings.get(SettingTable.SOURCE).toString();
    words.addAll(List.of("--", origin, settings.get(SettingTable.MOUNTPOINT).toString()));
    return words;
  }

  /** Whether it is in the foreground is decided by the process itself. */
  private static boolean isOption(Given one) {
    return one.setting().isOption() && one.setting() != SettingTable.FOREGROUND;
  }

  private static boolean isUsual(Given one) {
    return one.source().equals(Given.ARGUMENT)
        || one.source().equals(Given.flag(one.setting(), one.values()).source());
  }

  /** In one word, so that a value which begins with a dash is none the less the option's. */
  private static String word(Setting<?> setting, String value) {
    if (setting.isYesOrNo()) {
      return (value.equals("true") ? "--" : "--no-") + setting.name();
    }
    return setting.flag() + "=" + value;
  }

  /** Returns what the words of a daemon, behind "mount", say. */
  static GivenSettings read(List<String> words) {
    List<Setting<?>> places = SettingTable.rows(Group.PLACES);
    int first = words.size() - places.size();
    List<Given> given = new ArrayList<>();
    for (int i = 0; i < places.size(); i++) {
      given.add(Given.argument(places.get(i), words.get(first + i)));
    }
    ParseResult options =
        parse(
            words.subList(0, first - 1).stream()
                .filter(word -> !word.equals("--report") && !word.startsWith("--note="))
                .toList());
    return withSources(
        MountOptions.given(options).orElse(GivenSettings.of(given)),
        options.matchedOptionValue(FROM, List.of()));
  }

  /** Reads the words of options. */
  static ParseResult parse(List<String> words) {
    CommandSpec command = MountOptions.addTo(CommandSpec.create());
    command.addOption(
        OptionSpec.builder(FROM).type(List.class).auxiliaryTypes(String.class).build());
    return new CommandLine(command).parseArgs(words.toArray(String[]::new));
  }

  /**
   * Takes back what words say of sources.
   *
   * @param from values of {@link #FROM}
   */
  static GivenSettings withSources(GivenSettings given, List<String> from) {
    GivenSettings result = given;
    for (String each : from) {
      int equals = each.indexOf('=');
      Optional<Given> one = SettingTable.find(each.substring(0, equals)).flatMap(given::get);
      if (one.isPresent()) {
        String source = each.substring(equals + 1);
        result = result.with(new Given(one.get().setting(), one.get().values(), source));
      }
    }
    return result;
  }
}
