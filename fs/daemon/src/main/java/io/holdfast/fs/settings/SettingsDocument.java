package io.holdfast.fs.settings;

import com.fasterxml.jackson.jr.ob.JSON;
import io.holdfast.fs.linux.Procfs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The settings of a daemon: the file {@code settings.json} in the state directory of its mount.
 * {@code holdfast mount} and {@code restart} write it, and the daemon reads nothing else.
 * Immutable.
 *
 * <pre>
 * {
 *   "version": 1,
 *   "log": "/var/log/holdfast/imagenet.log",
 *   "notes": ["took away a stale mount at /data, whose daemon had died"],
 *   "settings": {
 *     "capacity": {"value": "48828125K", "given": ["50%"], "source": "flag --capacity"},
 *     "pin": {"value": "auto", "source": "default"},
 *     ...
 *   }
 * }
 * </pre>
 *
 * <p>{@code value} is what holds; without it there is none. The daemon does not derive or check
 * values again, so the next one, should it die, is the same, whatever has become of the machine,
 * the environment and the mount's file. {@code given} is what somebody said, for {@code holdfast
 * restart}, which puts that together anew.
 *
 * <p>A setting that is missing, because an older program wrote the document, has its default. One
 * that is not known, because a newer program did, is ignored. The file is readable by its owner
 * alone. It holds no secrets: settings name the files of those, and credentials for S3 are in the
 * environment.
 *
 * @param settings what holds
 * @param given what somebody said, with the two places as they were found to be
 * @param log where the daemon logs
 * @param notes lines for its log
 */
public record SettingsDocument(
    Settings settings, GivenSettings given, Path log, List<String> notes) {
  /** To be raised when a document means something else than before. */
  static final int VERSION = 1;

  private static final String FILE = "settings.json";

  private static final String VERSION_KEY = "version";
  private static final String LOG = "log";
  private static final String NOTES = "notes";
  private static final String SETTINGS = "settings";
  private static final String VALUE = "value";
  private static final String GIVEN = "given";
  private static final String SOURCE = "source";

  private static final FileAttribute<?> OF_OWNER =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

  private static final int OTHERS_MAY_WRITE = 0022;

  public SettingsDocument {
    notes = List.copyOf(notes);
  }

  /** Returns the document's file in a state directory. */
  public static Path file(Path state) {
    return state.resolve(FILE);
  }

  /**
   * Puts the document in the place of the one that is there.
   *
   * @param state the state directory
   * @throws IOException where that cannot be written
   */
  public void write(Path state) throws IOException {
    Path part = state.resolve(FILE + ".part");
    Files.deleteIfExists(part);
    Files.createFile(part, OF_OWNER);
    Files.write(part, JSON.std.asBytes(map()));
    Files.move(part, file(state), StandardCopyOption.ATOMIC_MOVE);
  }

  private Map<String, Object> map() {
    Map<String, Object> rows = new LinkedHashMap<>();
    for (Setting<?> setting : SettingTable.rows()) {
      rows.put(setting.name(), row(setting));
    }
    Map<String, Object> map = new LinkedHashMap<>();
    map.put(VERSION_KEY, VERSION);
    map.put(LOG, log.toString());
    map.put(NOTES, notes);
    map.put(SETTINGS, rows);
    return map;
  }

  private Map<String, Object> row(Setting<?> setting) {
    Map<String, Object> row = new LinkedHashMap<>();
    Object value = settings.exact(setting);
    if (value != null) {
      row.put(VALUE, value);
    }
    Optional<Given> said = given.get(setting);
    if (said.isPresent()) {
      row.put(GIVEN, said.get().values());
    }
    row.put(SOURCE, settings.source(setting));
    return row;
  }

  /**
   * Reads the document of a mount.
   *
   * @param state the state directory
   * @throws IOException where there is none that this process can trust and understand, with one
   *     line that says why, and what to do
   */
  public static SettingsDocument read(Path state) throws IOException {
    Path file = file(state);
    byte[] bytes;
    try {
      requireOwn(state);
      requireOwn(file);
      bytes = Files.readAllBytes(file);
    } catch (NoSuchFileException e) {
      throw new IOException(
          "there is no '%s', which tells a daemon its settings: start it with 'holdfast mount'"
              .formatted(file),
          e);
    }
    Map<?, ?> map = parse(file, bytes);
    Object version = map.get(VERSION_KEY);
    if (!Integer.valueOf(VERSION).equals(version)) {
      throw new IOException(
          "'%s' is of version %s and not %d, so another version of Holdfast wrote it: unmount and mount again"
              .formatted(file, version, VERSION));
    }
    return of(file, map);
  }

  /** Others could have a daemon mount what they like, and where. */
  private static void requireOwn(Path path) throws IOException {
    Map<String, Object> is = Files.readAttributes(path, "unix:uid,mode", LinkOption.NOFOLLOW_LINKS);
    int self = Procfs.ownUid();
    int owner = (Integer) is.get("uid");
    int mode = (Integer) is.get("mode");
    if (owner != self) {
      throw new IOException(
          "'%s' belongs to user %d and not to user %d: unmount and mount again"
              .formatted(path, owner, self));
    }
    if ((mode & OTHERS_MAY_WRITE) != 0) {
      throw new IOException(
          "'%s' may be changed by others (mode %04o): unmount and mount again"
              .formatted(path, mode & 07777));
    }
  }

  private static Map<?, ?> parse(Path file, byte[] bytes) throws IOException {
    try {
      if (JSON.std.anyFrom(bytes) instanceof Map<?, ?> map) {
        return map;
      }
    } catch (IOException e) {
      throw damaged(file, "it is no whole JSON text", e);
    }
    throw damaged(file, "it is no JSON object", null);
  }

  private static SettingsDocument of(Path file, Map<?, ?> map) throws IOException {
    if (!(map.get(LOG) instanceof String log)
        || !(map.get(NOTES) instanceof List<?> notes)
        || !(map.get(SETTINGS) instanceof Map<?, ?> rows)) {
      throw damaged(file, "a part of it is missing", null);
    }
    Settings.Builder builder = new Settings.Builder(0);
    List<Given> given = new ArrayList<>();
    for (Setting<?> setting : SettingTable.rows()) {
      if (rows.get(setting.name()) instanceof Map<?, ?> row) {
        try {
          read(setting, row, builder, given);
        } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
          throw damaged(file, setting.name() + " " + e.getMessage(), e);
        }
      }
    }
    for (Setting<?> setting :
        List.of(SettingTable.SOURCE, SettingTable.MOUNTPOINT, SettingTable.NAME)) {
      if (builder.get(setting) == null) {
        throw damaged(file, setting.name() + " has no value", null);
      }
    }
    return new SettingsDocument(
        new Settings(builder), GivenSettings.of(given), Path.of(log), texts(notes));
  }

  private static void read(
      Setting<?> setting, Map<?, ?> row, Settings.Builder builder, List<Given> given) {
    String source = String.valueOf(row.get(SOURCE));
    Object value = row.get(VALUE);
    if (value == null) {
      builder.set(setting, null, source);
    } else {
      builder.set(setting, new Given(setting, texts(value), source));
    }
    Object said = row.get(GIVEN);
    if (said != null) {
      given.add(new Given(setting, texts(said), source));
    }
  }

  private static List<String> texts(Object value) {
    List<String> texts = new ArrayList<>();
    for (Object each : value instanceof List<?> list ? list : List.of(value)) {
      texts.add(String.valueOf(each));
    }
    return texts;
  }

  private static IOException damaged(Path file, String why, @Nullable Exception cause) {
    return new IOException(
        "'%s' is damaged (%s): unmount and mount again".formatted(file, why), cause);
  }
}
