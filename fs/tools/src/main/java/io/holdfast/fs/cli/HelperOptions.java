package io.holdfast.fs.cli;

import io.holdfast.fs.host.CliException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/**
 * The options of mount(8), one text with commas, as words of {@code holdfast mount}: {@code
 * capacity=64G,keep="a,b"} is {@code --capacity=64G --keep=a,b}. Immutable.
 */
final class HelperOptions {
  /** What mount(8) and service managers mean for themselves, or what holds here in any case. */
  private static final Set<String> GENERIC =
      Set.of(
          ("ro rw suid nosuid dev nodev exec noexec atime noatime diratime nodiratime relatime"
                  + " norelatime strictatime nostrictatime lazytime nolazytime async sync dirsync"
                  + " iversion noiversion mand nomand silent loud nosymfollow symfollow defaults"
                  + " auto noauto user nouser users owner group nofail fail _netdev comment uhelper"
                  + " helper _rnetdev default_permissions")
              .split(" "));

  private final CommandSpec mount;
  private final List<String> words = new ArrayList<>();
  private final List<String> ignored = new ArrayList<>();
  private boolean noPrograms;

  /**
   * Reads options.
   *
   * @param mount the command whose words are wanted
   * @param sloppy whether what nobody knows is ignored
   * @throws CliException when nobody knows an option
   */
  HelperOptions(CommandSpec mount, String text, boolean sloppy) {
    this.mount = mount;
    for (String option : split(text)) {
      add(option, sloppy);
    }
  }

  private void add(String option, boolean sloppy) {
    int equals = option.indexOf('=');
    String key = equals < 0 ? option : option.substring(0, equals);
    OptionSpec known = known(key.equals("allow_other") ? "allow-other" : key);
    if (known != null) {
      boolean needsValue = known.arity().min() > 0;
      if (needsValue && equals < 0) {
        throw CliException.usage(
            "option '%s' needs a value: '%s=%s'".formatted(key, key, known.paramLabel()));
      }
      words.add("--" + option.replaceFirst("^allow_other", "allow-other"));
    } else if (GENERIC.contains(key) || key.startsWith("x-") || key.startsWith("X-")) {
      noPrograms = key.equals("noexec") || (noPrograms && !key.equals("exec"));
    } else if (key.equals("remount")) {
      throw CliException.usage(
          "a mount cannot be remounted: change its options with 'holdfast restart'");
    } else if (sloppy) {
      ignored.add(option);
    } else {
      throw CliException.usage(
          "unknown option '%s': those of 'holdfast mount --help' can be given, without the dashes"
              .formatted(key));
    }
  }

  private @Nullable OptionSpec known(String key) {
    String flag = "--" + key;
    OptionSpec option = mount.optionsMap().get(flag);
    if (option == null) {
      option = mount.negatedOptionsMap().get(flag);
    }
    boolean service = key.equals("foreground") || key.equals("help");
    return option == null || option.hidden() || service ? null : option;
  }

  /** Takes a text apart at its commas, but for those in quotes or behind a backslash. */
  static List<String> split(String text) {
    List<String> options = new ArrayList<>();
    StringBuilder option = new StringBuilder();
    boolean quoted = false;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      boolean escape =
          c == '\\' && i + 1 < text.length() && ",\"\\".indexOf(text.charAt(i + 1)) >= 0;
      if (escape) {
        i++;
        option.append(text.charAt(i));
      } else if (c == '"') {
        quoted = !quoted;
      } else if (c == ',' && !quoted) {
        addUnlessEmpty(options, option);
      } else {
        option.append(c);
      }
    }
    if (quoted) {
      throw CliException.usage("a quotation mark is missing in '" + text + "'");
    }
    addUnlessEmpty(options, option);
    return options;
  }

  private static void addUnlessEmpty(List<String> options, StringBuilder option) {
    if (option.length() > 0) {
      options.add(option.toString());
      option.setLength(0);
    }
  }

  /** Returns the words, in the order of the options. */
  List<String> words() {
    return List.copyOf(words);
  }

  /** Returns what nobody knows. */
  List<String> ignored() {
    return List.copyOf(ignored);
  }

  /** Tells whether no program may be started from the mount. */
  boolean noPrograms() {
    return noPrograms;
  }
}
