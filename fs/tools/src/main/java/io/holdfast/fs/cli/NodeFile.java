package io.holdfast.fs.cli;

import io.holdfast.fs.allocate.NodeSettings;
import io.holdfast.fs.settings.ConfigFile;
import io.holdfast.fs.settings.SettingsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Map;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;

/**
 * Reads the file of a node, {@code node.yaml} beside the files of its mounts: the memory for all of
 * them, and bounds of some. It refuses aliases and keys that are there twice. Stateless.
 */
final class NodeFile {
  /** The name that no mount's file can have. */
  static final String NAME = "node" + ConfigLookup.ENDING;

  private NodeFile() {}

  /**
   * Reads it; says nothing where it is not there.
   *
   * @throws SettingsException when it cannot be read
   * @throws CliException when anything is wrong in it; both with one line that names the file
   */
  static NodeSettings read(Host host) {
    for (Path directory : host.configurationDirectories()) {
      Path file = directory.resolve(NAME);
      if (Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
        return read(file, host.memory());
      }
    }
    return NodeSettings.NONE;
  }

  private static NodeSettings read(Path file, long machine) {
    try {
      return NodeSettings.read(mapping(ConfigFile.text(file)), machine);
    } catch (MarkedYamlEngineException e) {
      int line = e.getProblemMark().map(mark -> mark.getLine() + 1).orElse(1);
      throw wrong(file + ":" + line, "not YAML: " + oneLine(e.getProblem()), e);
    } catch (YamlEngineException e) {
      throw wrong(file.toString(), "not YAML: " + oneLine(String.valueOf(e.getMessage())), e);
    } catch (IllegalArgumentException e) {
      throw wrong(file.toString(), String.valueOf(e.getMessage()), e);
    }
  }

  private static Map<?, ?> mapping(String text) {
    LoadSettings settings =
        LoadSettings.builder()
            .setCodePointLimit(ConfigFile.MOST_BYTES)
            .setMaxAliasesForCollections(0)
            .setAllowDuplicateKeys(false)
            .setAllowRecursiveKeys(false)
            .build();
    Object all = new Load(settings).loadFromString(text);
    if (all == null) {
      return Map.of();
    }
    if (all instanceof Map<?, ?> map) {
      return map;
    }
    throw new IllegalArgumentException(
        "not a mapping: write 'memory: 400G', and 'mounts:' with their names below it");
  }

  private static String oneLine(String text) {
    return text.lines().map(String::strip).reduce("", (a, b) -> a.isEmpty() ? b : a + " " + b);
  }

  private static CliException wrong(String place, String message, Exception cause) {
    return CliException.usage(place + ": " + message, cause);
  }
}
