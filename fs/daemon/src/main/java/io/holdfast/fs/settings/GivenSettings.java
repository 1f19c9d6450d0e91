package io.holdfast.fs.settings;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Predicate;

/** The values that the user gave for a mount, each with its source, not parsed yet. Immutable. */
public final class GivenSettings {
  /** No values. */
  public static final GivenSettings NOTHING = new GivenSettings(List.of());

  /** Separates the values of a variable, for an option that may be given several times. */
  private static final String SEPARATOR = ":";

  private final Map<Setting<?>, Given> all = new TreeMap<>();

  private GivenSettings(Collection<Given> given) {
    given.forEach(one -> all.put(one.setting(), one));
  }

  /** Collects values. If a setting has two, the last one counts. */
  public static GivenSettings of(Collection<Given> given) {
    return new GivenSettings(given);
  }

  /**
   * Takes the variables HOLDFAST_... of an environment; an empty variable does not count.
   *
   * @throws SettingsException if a variable cannot be right
   */
  public static GivenSettings ofEnvironment(Map<String, String> environment) {
    List<Given> given = new ArrayList<>();
    for (Setting<?> setting : SettingTable.rows()) {
      String text = environment.getOrDefault(setting.variable(), "");
      if (!text.isEmpty()) {
        List<String> values =
            setting.isList() ? Arrays.asList(text.split(SEPARATOR)) : List.of(text);
        given.add(Given.variable(setting, values));
      }
    }
    return of(given);
  }

  /** Returns the value given for a setting. */
  public Optional<Given> get(Setting<?> setting) {
    return Optional.ofNullable(all.get(setting));
  }

  /** Returns all values, in the order of the table. */
  public Collection<Given> all() {
    return List.copyOf(all.values());
  }

  /** Adds a value, or replaces the value of the same setting. */
  public GivenSettings with(Given one) {
    return of(List.of(one)).orElse(this);
  }

  /** Adds the values of another for settings that have no value here. */
  public GivenSettings orElse(GivenSettings other) {
    List<Given> both = new ArrayList<>(other.all.values());
    both.addAll(all.values());
    return of(both);
  }

  /** Leaves out the values that do not pass. */
  public GivenSettings filter(Predicate<Given> passes) {
    return of(all.values().stream().filter(passes).toList());
  }

  /**
   * Returns the settings that the values mean.
   *
   * @param builder has the two places, and the defaults of this user
   * @throws SettingsException if a value is wrong
   */
  public Settings settings(Settings.Builder builder) {
    for (Given one : all.values()) {
      if (!one.setting().isOption()) {
        builder.source(one.setting(), one.source());
        continue;
      }
      try {
        builder.set(one.setting(), one);
      } catch (IllegalArgumentException e) {
        throw SettingsException.of(one, String.valueOf(e.getMessage()));
      }
    }
    try {
      return builder.build();
    } catch (IllegalArgumentException e) {
      throw new SettingsException(relabelled(String.valueOf(e.getMessage())));
    }
  }

  /**
   * Returns a message in which the user's own label (a variable, or file, line and key) replaces
   * the option at the beginning.
   */
  private String relabelled(String message) {
    for (Given one : all.values()) {
      String flag = one.setting().flag() + " ";
      if (message.startsWith(flag)) {
        return one.label() + " " + message.substring(flag.length());
      }
    }
    return message;
  }
}
