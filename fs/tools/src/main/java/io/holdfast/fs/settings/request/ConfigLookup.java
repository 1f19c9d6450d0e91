package io.holdfast.fs.settings.request;

import io.holdfast.fs.host.CliException;
import io.holdfast.fs.host.Host;
import io.holdfast.fs.settings.ConfigFile;
import io.holdfast.fs.settings.Given;
import io.holdfast.fs.settings.GivenSettings;
import io.holdfast.fs.settings.MountNames;
import io.holdfast.fs.settings.Setting;
import io.holdfast.fs.settings.SettingTable;
import io.holdfast.fs.settings.Source;
import io.holdfast.fs.units.NearestWord;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Adds to what the command line says of a mount what the environment and the mount's file say, in
 * this order. Stateless.
 */
public final class ConfigLookup {
  /** The source of a file that nobody named. */
  static final String FOUND = "found by the mount's name";

  /** What the names of files end with. */
  static final String ENDING = ".yaml";

  /** What the launcher has variables for. */
  private static final List<String> OTHER_VARIABLES = List.of("HEAP", "JAVA_OPTIONS");

  private static final String PREFIX = "HOLDFAST_";

  private final Host host;

  public ConfigLookup(Host host) {
    this.host = host;
  }

  /**
   * Adds what the environment and the file say.
   *
   * @throws CliException when something there is wrong
   */
  public GivenSettings complete(GivenSettings flags) {
    return withFile(flags.orElse(GivenSettings.ofEnvironment(host.environment())));
  }

  /**
   * Adds what the file says: the one that is named, or that of the mount's name, if it is there.
   */
  GivenSettings withFile(GivenSettings given) {
    Optional<Path> named = given.get(SettingTable.CONFIG).map(config -> Path.of(config.value()));
    if (named.isPresent()) {
      return given.orElse(ConfigFile.read(named.get()));
    }
    Optional<Path> found = name(given).flatMap(this::find);
    if (found.isEmpty()) {
      return given;
    }
    Given config = new Given(SettingTable.CONFIG, List.of(found.get().toString()), FOUND);
    return given.orElse(ConfigFile.read(found.get())).with(config);
  }

  /**
   * Returns a line for each variable that is none of ours and looks like one. Others are let be:
   * where containers run, a service of our name brings variables of its own.
   */
  public static List<String> doubtful(Map<String, String> environment) {
    List<String> known = new ArrayList<>(OTHER_VARIABLES);
    for (Setting<?> setting : SettingTable.rows()) {
      known.add(setting.variable().substring(PREFIX.length()));
    }
    return environment.keySet().stream()
        .filter(name -> name.startsWith(PREFIX))
        .map(name -> name.substring(PREFIX.length()))
        .filter(name -> !known.contains(name))
        .sorted()
        .flatMap(
            name ->
                NearestWord.of(name, known).stream()
                    .map(
                        near ->
                            "the variable HOLDFAST_%s is not known: did you mean HOLDFAST_%s?"
                                .formatted(name, near)))
        .toList();
  }

  /** Returns the file of a mount's name, if it is there. The node's file is no mount's. */
  public Optional<Path> find(String name) {
    return candidates(name).stream()
        .filter(file -> !file.endsWith(NodeFile.NAME))
        .filter(file -> Files.exists(file, LinkOption.NOFOLLOW_LINKS))
        .findFirst();
  }

  /** Returns where the file of a mount's name may be. */
  List<Path> candidates(String name) {
    return host.configurationDirectories().stream()
        .map(directory -> directory.resolve(name + ENDING))
        .toList();
  }

  /** What the mount will be called, as far as that does not depend on the file. */
  private Optional<String> name(GivenSettings given) {
    Optional<String> name = given.get(SettingTable.NAME).map(Given::value);
    if (name.isPresent()) {
      // Another one is refused later, and must not lead anywhere until then.
      return name.filter(MountNames::isName);
    }
    return given
        .get(SettingTable.MOUNTPOINT)
        .or(() -> given.get(SettingTable.SOURCE))
        .map(Given::value)
        .filter(path -> !path.isEmpty() && Source.isPath(path))
        .map(path -> MountNames.of(host.locate(Path.of(path).toAbsolutePath().normalize())));
  }
}
