package io.holdfast.fs.host;

import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.jr.ob.JSON;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;
import java.util.function.Function;

/**
 * Reads a file of JSON that a user wrote. Immutable.
 *
 * @param option that names the file
 * @param word for the file in messages, such as 'plan'
 * @param things what the file lists, such as 'mounts'
 * @param keys the keys that the file must have, for people
 */
public record JsonFile(String option, String word, String things, String keys) {
  private static final int MOST_BYTES = 16 * 1024 * 1024;

  /** Numbers stay as they are written: no 64-bit number is rounded. */
  private static final JSON EXACT = JSON.std.with(JSON.Feature.USE_BIG_DECIMAL_FOR_FLOATS);

  /**
   * Reads it.
   *
   * @param reader of the object; what it finds wrong is an {@link IllegalArgumentException}
   * @throws CliException when it cannot be read or anything is wrong in it, with one line that
   *     names the file and the key
   */
  public <T> T read(String name, Function<Map<?, ?>, T> reader) {
    if (name.isEmpty()) {
      throw CliException.usage(option + " is empty: give a file");
    }
    Path file = Path.of(name);
    try {
      return reader.apply(object(file, bytes(file)));
    } catch (IllegalArgumentException e) {
      throw wrong(file, String.valueOf(e.getMessage()), e);
    }
  }

  private byte[] bytes(Path file) {
    if (Files.isDirectory(file)) {
      throw CliException.usage(named(file) + " is a directory: give a file");
    }
    try (InputStream in = Files.newInputStream(file)) {
      byte[] bytes = in.readNBytes(MOST_BYTES + 1);
      if (bytes.length > MOST_BYTES) {
        throw CliException.usage(
            named(file) + " has more than 16 MiB: give a file of " + things + " as JSON");
      }
      return bytes;
    } catch (NoSuchFileException e) {
      throw CliException.usage(named(file) + " does not exist: give a file", e);
    } catch (AccessDeniedException e) {
      throw CliException.usage(named(file) + " cannot be read: check its permissions", e);
    } catch (IOException e) {
      throw CliException.couldNot(
          named(file) + " cannot be read: " + e.getMessage() + ": give another file", e);
    }
  }

  private Map<?, ?> object(Path file, byte[] bytes) {
    try (JsonParser parser = EXACT.createParser(bytes)) {
      Object all = EXACT.anyFrom(parser);
      if (parser.nextToken() != null) {
        throw new IllegalArgumentException("something follows the object: remove it");
      }
      if (all instanceof Map<?, ?> object) {
        return object;
      }
      throw new IllegalArgumentException(
          "must be an object with " + keys + ": put { } around them");
    } catch (JsonProcessingException e) {
      throw wrong(file, "not JSON" + place(e.getLocation()) + ": " + e.getOriginalMessage(), e);
    } catch (IOException e) {
      throw wrong(file, "not JSON: " + e.getMessage(), e);
    }
  }

  private static String place(JsonLocation location) {
    return location == null
        ? ""
        : " at line " + location.getLineNr() + ", column " + location.getColumnNr();
  }

  private CliException wrong(Path file, String message, Exception cause) {
    return CliException.usage(named(file) + ": " + message, cause);
  }

  private String named(Path file) {
    return "the " + word + " '" + file + "'";
  }
}
