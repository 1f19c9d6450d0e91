package io.holdfast.fs.manual;

import io.holdfast.fs.manual.Definition.Choice;
import io.holdfast.fs.manual.Definition.Command;
import io.holdfast.fs.manual.Definition.Group;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Makes the pages of the manual: one for the program, one for each command, one for a mount's file.
 * Stateless.
 */
public final class ManualPages {
  private static final String PROGRAM = "holdfast";
  private static final String FILE_PAGE = "holdfast.yaml";

  private ManualPages() {}

  /**
   * Writes all pages.
   *
   * @return texts by name of file, such as {@code holdfast-mount.1}
   */
  public static Map<String, String> of(Definition program, String version) {
    Map<String, String> pages = new LinkedHashMap<>();
    pages.put(PROGRAM + ".1", overview(program, version));
    for (Command command : program.commands()) {
      pages.put(page(command) + ".1", page(command, version));
    }
    pages.put(FILE_PAGE + ".5", file(mount(program), version));
    return pages;
  }

  private static String page(Command command) {
    return PROGRAM + "-" + command.name();
  }

  static Command mount(Definition program) {
    return program.commands().stream()
        .filter(one -> one.name().equals("mount"))
        .findFirst()
        .orElseThrow();
  }

  private static String overview(Definition program, String version) {
    Roff page = new Roff("HOLDFAST", 1, version).name(PROGRAM, purpose(program.header()));
    page.section("SYNOPSIS").paragraph("holdfast COMMAND [OPTIONS] [ARGUMENTS]");
    page.section("DESCRIPTION")
        .paragraph(
            "Holdfast mounts a dataset, read-only, so that what was read once stays in memory: in"
                + " the page cache of the mount, where reading it again costs no message to any"
                + " program. Of a dataset that is larger than the memory, a part stays for good"
                + " instead of all being replaced all the time.");
    page.section("COMMANDS");
    for (Command command : program.commands()) {
      page.term(command.name(), command.header() + " See " + page(command) + "(1).");
    }
    page.section("OPTIONS");
    program.options().forEach(option -> term(page, option));
    exitStatus(page);
    page.section("FILES")
        .term("/etc/holdfast/NAME.yaml", "The settings of a mount: holdfast.yaml(5).")
        .term(
            "/etc/holdfast/node.yaml",
            "The memory for all mounts of a node, and bounds of some: holdfast-allocate(1).")
        .term("/run/holdfast/NAME.sock", "The socket of a daemon, which the commands ask.")
        .term("/var/log/holdfast/NAME.log", "The log of a daemon in the background.")
        .term("/var/lib/holdfast/NAME.tree", "Names and attributes, for the next mount.");
    page.section("ENVIRONMENT")
        .term("HOLDFAST_HEAP", "The heap of the daemon, as 512m or 2g. Default: 512m.")
        .term("HOLDFAST_JAVA_OPTIONS", "Further options of the virtual machine.")
        .term("JAVA_HOME", "The Java to use, 17 or newer.");
    List<String> others = program.commands().stream().map(one -> page(one) + "(1)").toList();
    return page.seeAlso(with(others, FILE_PAGE + "(5)", "mount.holdfast(8)")).toString();
  }

  private static String page(Command command, String version) {
    Roff page =
        new Roff(page(command).toUpperCase(Locale.ROOT), 1, version)
            .name(page(command), purpose(command.header()));
    page.section("SYNOPSIS");
    command.synopsis().forEach(page::paragraph);
    if (!command.description().isEmpty()) {
      page.section("DESCRIPTION");
      command.description().forEach(page::paragraph);
    }
    if (!command.arguments().isEmpty()) {
      page.section("ARGUMENTS");
      command.arguments().forEach(one -> page.term(one.label(), one.description()));
    }
    page.section("OPTIONS");
    for (Group group : command.groups()) {
      if (command.groups().size() > 1) {
        page.subsection(group.heading());
      }
      group.options().forEach(option -> term(page, option));
    }
    exitStatus(page);
    if (!command.examples().isEmpty()) {
      page.section("EXAMPLES").verbatim(command.examples().stream().map(String::strip).toList());
    }
    return page.seeAlso(List.of("holdfast(1)", FILE_PAGE + "(5)", "mount.holdfast(8)")).toString();
  }

  private static String file(Command mount, String version) {
    Roff page =
        new Roff("HOLDFAST.YAML", 5, version).name(FILE_PAGE, "settings of a Holdfast mount");
    page.section("DESCRIPTION")
        .paragraph(
            "/etc/holdfast/NAME.yaml has the settings of the mount NAME, one a line. The keys are"
                + " the options of holdfast-mount(1) without their dashes, and 'source' and"
                + " 'mountpoint'. What an option on the command line or a variable of the"
                + " environment (HOLDFAST_CAPACITY for 'capacity') says wins over the file.");
    page.section("KEYS");
    page.term("source: SOURCE", "The dataset's directory, or s3://BUCKET/PREFIX.");
    page.term("mountpoint: DIRECTORY", "Where it appears. Default: over the source itself.");
    for (Group group : mount.groups()) {
      List<Choice> keys = group.options().stream().filter(ManualPages::isKey).toList();
      if (!keys.isEmpty()) {
        page.subsection(group.heading());
        keys.forEach(one -> page.term(key(one) + ": " + value(one), one.description()));
      }
    }
    page.section("EXAMPLES")
        .verbatim(
            List.of(
                "source: /nfs/imagenet",
                "mountpoint: /data/imagenet",
                "capacity: 64G",
                "keep: ['val/', '*.idx']"));
    return page.seeAlso(List.of("holdfast-mount(1)", "mount.holdfast(8)")).toString();
  }

  /**
   * Tells whether an option can be a key of a mount's file. The name cannot: the file's own name is
   * the mount's name.
   */
  static boolean isKey(Choice option) {
    return !List.of("help", "config", "name", "foreground").contains(key(option));
  }

  static String key(Choice option) {
    return option.longest().substring(2);
  }

  static String value(Choice option) {
    if (!option.takesValue()) {
      return "true|false";
    }
    return option.repeatable() ? "[" + option.label() + ", ...]" : option.label();
  }

  private static void term(Roff page, Choice option) {
    String names = String.join(", ", option.names());
    page.term(option.takesValue() ? names + "=" + option.label() : names, option.description());
  }

  private static void exitStatus(Roff page) {
    page.section("EXIT STATUS")
        .term("0", "Done.")
        .term("1", "Could not; the reason is told in one line.")
        .term("2", "Wrong usage, or a wrong setting.");
  }

  private static String purpose(String header) {
    String first = header.endsWith(".") ? header.substring(0, header.length() - 1) : header;
    return first.substring(0, 1).toLowerCase(Locale.ROOT) + first.substring(1);
  }

  private static List<String> with(List<String> pages, String... more) {
    List<String> all = new ArrayList<>(pages);
    all.addAll(List.of(more));
    return all.stream().collect(Collectors.toUnmodifiableList());
  }
}
