package io.holdfast.fs.manual;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import picocli.CommandLine;
import picocli.CommandLine.Model.ArgGroupSpec;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/**
 * The commands of a program as its help shows them, without hidden ones. Immutable.
 *
 * @param name the program's name
 * @param header its purpose, in a sentence
 * @param options the options that need no command
 * @param commands in the order of the help
 */
public record Definition(String name, String header, List<Choice> options, List<Command> commands) {

  /** The kind of a value, as far as completion needs it. */
  public enum Kind {
    TEXT,
    FILE,
    DIRECTORY,
    /** The name or the mountpoint of a running mount. */
    MOUNT,
    /** The name of a mount that has a file with its options. */
    CONFIGURED,
    /** Such a name, or any file with options. */
    CONFIGURATION
  }

  /**
   * One command.
   *
   * @param header its purpose, in a sentence
   * @param synopsis one line or several
   * @param description paragraphs
   * @param groups its options
   * @param examples lines, each a command and perhaps a remark behind '#'
   */
  public record Command(
      String name,
      String header,
      List<String> synopsis,
      List<String> description,
      List<Argument> arguments,
      List<Group> groups,
      List<String> examples) {
    /** Returns the options of all groups. */
    public List<Choice> options() {
      return groups.stream().flatMap(group -> group.options().stream()).toList();
    }
  }

  /** Options that belong together. */
  public record Group(String heading, List<Choice> options) {}

  /**
   * An argument without a name.
   *
   * @param label the placeholder, such as MOUNTPOINT
   */
  public record Argument(String label, String description, Kind kind, List<String> values) {}

  /**
   * An option.
   *
   * @param names the short ones first
   * @param label the placeholder of its value; empty if it takes none
   * @param values the values that are known in advance
   * @param repeatable whether it may be given several times
   */
  public record Choice(
      List<String> names,
      String label,
      String description,
      Kind kind,
      List<String> values,
      boolean repeatable) {
    /** Returns the name with two dashes; not its negation. */
    public String longest() {
      return names.stream().filter(name -> name.startsWith("--")).findFirst().orElseThrow();
    }

    /** Tells whether it has a value. */
    public boolean takesValue() {
      return !label.isEmpty();
    }
  }

  private static final Pattern WORD = Pattern.compile("[a-z][a-z0-9-]*");

  /** Reads the definition of a program. */
  public static Definition of(CommandLine top) {
    CommandSpec spec = top.getCommandSpec();
    List<Command> commands =
        top.getSubcommands().values().stream()
            .map(CommandLine::getCommandSpec)
            .filter(command -> !command.usageMessage().hidden())
            .map(Definition::command)
            .toList();
    return new Definition(
        spec.name(), text(spec.usageMessage().header()), choices(spec.options()), commands);
  }

  private static Command command(CommandSpec spec) {
    CommandLine.Model.UsageMessageSpec usage = spec.usageMessage();
    List<Group> groups = new ArrayList<>();
    List<OptionSpec> others = new ArrayList<>(spec.options());
    for (ArgGroupSpec group : spec.argGroups()) {
      addGroups(group, groups, others);
    }
    if (!choices(others).isEmpty()) {
      groups.add(new Group("Options", choices(others)));
    }
    return new Command(
        spec.name(),
        text(usage.header()),
        lines(usage.customSynopsis()),
        lines(usage.description()).stream().filter(line -> !line.isBlank()).toList(),
        spec.positionalParameters().stream()
            .filter(one -> !one.hidden())
            .map(one -> argument(spec.name(), one))
            .toList(),
        groups,
        lines(usage.footer()));
  }

  private static void addGroups(ArgGroupSpec group, List<Group> groups, List<OptionSpec> others) {
    List<Choice> own = choices(group.options());
    others.removeAll(group.options());
    if (!own.isEmpty()) {
      String heading = group.heading() == null ? "Options" : group.heading();
      groups.add(new Group(plain(heading).strip().replaceAll(":$", ""), own));
    }
    group.subgroups().stream()
        .sorted(Comparator.comparingInt(ArgGroupSpec::order))
        .forEach(below -> addGroups(below, groups, others));
  }

  private static List<Choice> choices(List<OptionSpec> options) {
    return options.stream().filter(one -> !one.hidden()).map(Definition::choice).toList();
  }

  private static Choice choice(OptionSpec option) {
    boolean takesValue = option.arity().max() > 0;
    List<String> names = new ArrayList<>(Arrays.asList(option.names()));
    if (option.negatable()) {
      names.add(option.longestName().replaceFirst("^--", "--no-"));
    }
    names.sort(Comparator.comparing((String name) -> name.startsWith("--")));
    String label = takesValue ? option.paramLabel() : "";
    return new Choice(
        List.copyOf(names),
        label,
        text(option.description()),
        kind(label, ""),
        values(option, label),
        option.isMultiValue());
  }

  private static Argument argument(String command, PositionalParamSpec one) {
    String label = one.paramLabel();
    return new Argument(label, text(one.description()), kind(label, command), values(one, label));
  }

  private static List<String> values(ArgSpec one, String label) {
    List<String> values = new ArrayList<>();
    if (one.completionCandidates() != null) {
      one.completionCandidates().forEach(values::add);
    }
    for (String part : label.split("\\|", -1)) {
      if (WORD.matcher(part).matches() && !values.contains(part)) {
        values.add(part);
      }
    }
    return List.copyOf(values);
  }

  private static Kind kind(String label, String command) {
    boolean mounts = label.contains("MOUNT") && !command.isEmpty() && !command.equals("mount");
    if (mounts) {
      return Kind.MOUNT;
    }
    if (label.equals("NAME")) {
      return Kind.CONFIGURED;
    }
    if (label.equals("FILE|NAME")) {
      return Kind.CONFIGURATION;
    }
    if (label.contains("FILE")) {
      return Kind.FILE;
    }
    boolean directory =
        label.toUpperCase(Locale.ROOT).matches("(DIR|.*(DIRECTORY|SOURCE|MOUNT)).*");
    return directory ? Kind.DIRECTORY : label.startsWith("PATH") ? Kind.FILE : Kind.TEXT;
  }

  private static String text(String[] parts) {
    return String.join(" ", lines(parts)).strip();
  }

  private static List<String> lines(String[] parts) {
    return Arrays.stream(parts).map(Definition::plain).toList();
  }

  /** Returns a text of picocli with its escapes replaced: two percent signs are one. */
  private static String plain(String text) {
    return text.replace("%n", "\n").replace("%%", "%");
  }
}
