package io.holdfast.fs.settings;

import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One setting: a row of {@link SettingTable}. Its name is the option of the command line ({@code
 * --item-size}) and the key in a mount's file. The name of the environment variable follows from it
 * ({@code HOLDFAST_ITEM_SIZE}). Immutable once the table has been built.
 *
 * @param <T> the type of its value in the program
 */
public final class Setting<T> implements Comparable<Setting<?>> {
  private final int position;
  private final Group group;
  private final String name;
  private final Kind<T> kind;
  private final @Nullable T otherwise;
  private final List<String> help;
  private Consumer<T> rule = value -> {};
  private boolean fixed;

  Setting(
      int position,
      Group group,
      String name,
      Kind<T> kind,
      @Nullable T otherwise,
      List<String> help) {
    this.position = position;
    this.group = group;
    this.name = name;
    this.kind = kind;
    this.otherwise = otherwise;
    this.help = help;
  }

  /** Adds a rule for values, beyond their form. The rule throws an IllegalArgumentException. */
  Setting<T> obeying(Consumer<T> newRule) {
    rule = newRule;
    return this;
  }

  /**
   * Marks the setting as fixed while the mount is there: the kernel was told the value, or the
   * names of items depend on it.
   */
  Setting<T> fixed() {
    fixed = true;
    return this;
  }

  /** Returns its group. */
  public Group group() {
    return group;
  }

  /** Returns its name: {@code item-size}. */
  public String name() {
    return name;
  }

  /** Returns its option: {@code --item-size}. */
  public String flag() {
    return "--" + name;
  }

  /** Returns its environment variable: {@code HOLDFAST_ITEM_SIZE}. */
  public String variable() {
    return "HOLDFAST_" + name.toUpperCase(Locale.ROOT).replace('-', '_');
  }

  /** Returns its meaning, in lines for a help; percent signs are doubled. */
  public List<String> help() {
    return help;
  }

  /** Returns the form of its values: {@code SIZE|P%}. */
  public String label() {
    return kind.label();
  }

  /** Tells whether it is an option, and not an argument. */
  public boolean isOption() {
    return group != Group.PLACES;
  }

  /** Tells whether it is on or off. */
  public boolean isYesOrNo() {
    return kind.shape() == Kind.Shape.YES_OR_NO;
  }

  /** Tells whether it may be given several times. */
  public boolean isList() {
    return kind.shape() == Kind.Shape.LIST;
  }

  /** Tells whether values are paths. */
  public boolean isPath() {
    return kind.shape() == Kind.Shape.PATH;
  }

  /** Tells whether its value cannot change while the mount is there. */
  public boolean isFixed() {
    return fixed;
  }

  /** Returns a value as a user would write it. */
  public String word(T value) {
    return String.valueOf(kind.exact(value));
  }

  Kind<T> kind() {
    return kind;
  }

  /** Returns the default, if the value does not follow from other settings. */
  @Nullable T otherwise() {
    return otherwise;
  }

  /**
   * Checks a value by itself.
   *
   * @throws IllegalArgumentException if the value breaks the rule, with a message that begins with
   *     the option
   */
  void check(T value) {
    try {
      rule.accept(value);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(flag() + " " + e.getMessage(), e);
    }
  }

  @Override
  public int compareTo(Setting<?> other) {
    return Integer.compare(position, other.position);
  }

  @Override
  public String toString() {
    return name;
  }
}
