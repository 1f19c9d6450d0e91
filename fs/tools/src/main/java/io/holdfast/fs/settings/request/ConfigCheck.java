package io.holdfast.fs.settings.request;

import io.holdfast.fs.host.CliException;
import io.holdfast.fs.host.Host;
import io.holdfast.fs.settings.Given;
import io.holdfast.fs.settings.GivenSettings;
import io.holdfast.fs.settings.Group;
import io.holdfast.fs.settings.SettingTable;
import io.holdfast.fs.settings.Settings;
import io.holdfast.fs.settings.Source;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** Reads a mount's file as {@code holdfast mount} would, and mounts nothing. Stateless. */
public final class ConfigCheck {
  private static final String LATER = "to be given to 'holdfast mount'";

  private final Host host;

  public ConfigCheck(Host host) {
    this.host = host;
  }

  /**
   * What a mount would have.
   *
   * @param rows as from {@link Settings#report()}
   * @param notes lines for the user
   */
  public record Result(List<Map<String, Object>> rows, List<String> notes) {}

  /**
   * Checks a file.
   *
   * @param target its path, if there is a slash in it or its name ends as files of mounts do; else
   *     the name of a mount
   * @throws CliException when something is wrong
   */
  public Result check(String target) {
    ConfigLookup lookup = new ConfigLookup(host);
    GivenSettings given = lookup.complete(meant(target));
    if (given.get(SettingTable.CONFIG).isEmpty()) {
      throw CliException.usage(
          "'%s' has no file: there is no %s"
              .formatted(
                  target,
                  lookup.candidates(target).stream()
                      .map(Path::toString)
                      .collect(Collectors.joining(", nor "))));
    }
    GivenSettings whole = given.orElse(missing(given));
    List<Map<String, Object>> rows = new MountRequest(host, whole).settings().report();
    if (whole.get(SettingTable.MOUNTPOINT).filter(one -> one.source().equals(LATER)).isPresent()
        && whole.get(SettingTable.NAME).isEmpty()) {
      rows.stream()
          .filter(row -> SettingTable.NAME.name().equals(row.get("setting")))
          .forEach(row -> row.put("source", LATER));
    }
    rows.stream().filter(row -> LATER.equals(row.get("source"))).forEach(ConfigCheck::blank);
    if (whole.get(SettingTable.CAPACITY).isEmpty()
        && NodeFile.ofMounts(host).isPresent()
        && NodeFile.read(host).memory().isPresent()) {
      rows.stream()
          .filter(row -> SettingTable.CAPACITY.name().equals(row.get("setting")))
          .forEach(this::partOfBudget);
    }
    return new Result(rows, ConfigLookup.doubtful(host.environment()));
  }

  /** Something in the place of arguments that the command line of a mount may yet give. */
  private static GivenSettings missing(GivenSettings given) {
    Optional<String> source = given.get(SettingTable.SOURCE).map(Given::value);
    List<Given> missing = new ArrayList<>();
    if (source.isEmpty()) {
      // Beside a directory, what is of S3 would be refused.
      boolean s3 = SettingTable.rows(Group.S3).stream().anyMatch(key -> given.get(key).isPresent());
      missing.add(new Given(SettingTable.SOURCE, List.of(s3 ? "s3://bucket" : "/source"), LATER));
    }
    if (source.filter(Source::isPath).isEmpty()) {
      missing.add(new Given(SettingTable.MOUNTPOINT, List.of("/mountpoint"), LATER));
    }
    return GivenSettings.of(missing);
  }

  private void partOfBudget(Map<String, Object> row) {
    blank(row);
    row.put("source", "its part of 'memory' in " + NodeFile.find(host).orElseThrow());
  }

  private static void blank(Map<String, Object> row) {
    row.remove("value");
    row.put("text", "-");
  }

  private GivenSettings meant(String target) {
    if (!target.contains("/") && !target.endsWith(ConfigLookup.ENDING)) {
      return GivenSettings.of(List.of(Given.argument(SettingTable.NAME, target)));
    }
    Path path = Path.of(target).toAbsolutePath().normalize();
    List<Given> given = new ArrayList<>();
    given.add(Given.argument(SettingTable.CONFIG, path.toString()));
    String name = String.valueOf(path.getFileName());
    if (host.configurationDirectories().contains(path.getParent())
        && name.endsWith(ConfigLookup.ENDING)) {
      name = name.substring(0, name.length() - ConfigLookup.ENDING.length());
      given.add(Given.argument(SettingTable.NAME, name));
    }
    return GivenSettings.of(given);
  }
}
