package io.holdfast.fs.settings;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Predicate;

/** What was said of a mount, each with where, before anybody looks at what it means. Immutable. */
public final class GivenSettings {
  /** Nothing was said. */
  public static final GivenSettings NOTHING = new GivenSettings(List.of());

  /**
   * Between the values of a variable that stands for an option which may be given several times.
   */
  private static final String SEPARATOR = ":";

  private final Map<Setting<?>, Given> all = new TreeMap<>();

  private GivenSettings(Collection<Given> given) {
    given.forEach(one -> all.put(one.setting(), one));
  }

  /** Collects; of what is there twice, the last. */
  public static GivenSettings of(Collection<Given> given) {
    return new GivenSettings(given);
  }

  /**
   * Takes the variables HOLDFAST_...; an empty one says nothing.
   *
   * @throws SettingsException when one cannot be right
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

  /** Returns what was said of a setting. */
  public Optional<Given> get(Setting<?> setting) {
    return Optional.ofNullable(all.get(setting));
  }

  /** Returns all that was said, in the order of the table. */
  public Collection<Given> all() {
    return List.copyOf(all.values());
  }

  /** Adds something, or puts it in the place of what was said of the same setting. */
  public GivenSettings with(Given one) {
    return of(List.of(one)).orElse(this);
  }

  /** Adds what another has of settings that this one says nothing of. */
  public GivenSettings orElse(GivenSettings other) {
    List<Given> both = new ArrayList<>(other.all.values());
    both.addAll(all.values());
    return of(both);
  }

  /** Leaves out what does not pass. */
  public GivenSettings filter(Predicate<Given> passes) {
    return of(all.values().stream().filter(passes).toList());
  }

  /**
   * Says what it means.
   *
   * @param builder has the two places, and the defaults of this user
   * @throws SettingsException when a value is wrong
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

  /** Returns a message that begins with an option with what was written instead of that option. */
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
