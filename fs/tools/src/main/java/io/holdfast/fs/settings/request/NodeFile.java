package io.holdfast.fs.settings.request;

import io.holdfast.fs.allocate.NodeSettings;
import io.holdfast.fs.host.CliException;
import io.holdfast.fs.host.Host;
import io.holdfast.fs.linux.Procfs;
import io.holdfast.fs.settings.ConfigFile;
import io.holdfast.fs.settings.SettingsException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;

/**
 * Reads the file of a node, {@code node.yaml} beside the files of its mounts: the memory for all of
 * them, and bounds of some. It refuses aliases and keys that are there twice. Stateless.
 */
public final class NodeFile {
  /** The name that no mount's file can have. */
  static final String NAME = "node" + ConfigLookup.ENDING;

  private static final int ROOT = 0;
  private static final int OTHERS_MAY_WRITE = 0022;

  private NodeFile() {}

  /** Returns where it is, if it is there: a user's own comes first. */
  static Optional<Path> find(Host host) {
    return host.configurationDirectories().stream()
        .map(directory -> directory.resolve(NAME))
        .filter(file -> Files.exists(file, LinkOption.NOFOLLOW_LINKS))
        .findFirst();
  }

  /**
   * Returns the file whose memory the mounts of this user share. That of the machine is for root's:
   * other users cannot ask all daemons what they have.
   */
  public static Optional<Path> ofMounts(Host host) {
    List<Path> directories = host.configurationDirectories();
    return find(host)
        .filter(
            file ->
                host.uid() == ROOT
                    || !directories.get(directories.size() - 1).equals(file.getParent()));
  }

  /**
   * Reads it; says nothing where it is not there. The memory is that of {@link #ofMounts}: what the
   * file of the machine says of it is not for users other than root.
   *
   * @throws SettingsException when it cannot be read
   * @throws CliException when anything is wrong in it, or others may change it; both with one line
   *     that names the file
   */
  public static NodeSettings read(Host host) {
    NodeSettings said = find(host).map(file -> read(file, host.memory())).orElse(NodeSettings.NONE);
    return ofMounts(host).isPresent() ? said : said.withoutMemory();
  }

  /** Refuses a file that another user can change: the file decides about the memory of mounts. */
  private static void requireTrusted(Path file) {
    try {
      int owner = (Integer) Files.getAttribute(file, "unix:uid");
      int mode = (Integer) Files.getAttribute(file, "unix:mode");
      if (owner != ROOT && owner != Procfs.ownUid()) {
        throw CliException.usage(
            "%s belongs to user %d, who must not decide about the memory of others: 'chown %d %s'"
                .formatted(file, owner, Procfs.ownUid(), file));
      }
      if ((mode & OTHERS_MAY_WRITE) != 0) {
        throw CliException.usage(
            "%s may be changed by others (mode %04o): 'chmod go-w %s'"
                .formatted(file, mode & 07777, file));
      }
    } catch (IOException e) {
      // who reads it says what is wrong
    }
  }

  private static NodeSettings read(Path file, long machine) {
    requireTrusted(file);
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
