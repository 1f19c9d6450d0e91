package io.holdfast.fs.cli;

import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.jr.ob.JSON;
import io.holdfast.fs.allocate.Plan;
import io.holdfast.fs.allocate.PlanReader;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;

/** Reads the file of a plan. Stateless. */
final class PlanFile {
  private static final int MOST_BYTES = 16 * 1024 * 1024;

  /** Numbers stay as they are written: no 64-bit number is rounded. */
  private static final JSON EXACT = JSON.std.with(JSON.Feature.USE_BIG_DECIMAL_FOR_FLOATS);

  private PlanFile() {}

  /**
   * Reads a plan.
   *
   * @throws CliException when it cannot be read or anything is wrong in it, with one line that
   *     names the file and the key
   */
  static Plan read(String name) {
    if (name.isEmpty()) {
      throw CliException.usage("--plan is empty: give a file");
    }
    Path file = Path.of(name);
    try {
      return PlanReader.read(object(file, bytes(file)));
    } catch (IllegalArgumentException e) {
      throw wrong(file, String.valueOf(e.getMessage()), e);
    }
  }

  private static byte[] bytes(Path file) {
    if (Files.isDirectory(file)) {
      throw CliException.usage("the plan '" + file + "' is a directory: give a file");
    }
    try (InputStream in = Files.newInputStream(file)) {
      byte[] bytes = in.readNBytes(MOST_BYTES + 1);
      if (bytes.length > MOST_BYTES) {
        throw CliException.usage(
            "the plan '" + file + "' has more than 16 MiB: give a file of mounts as JSON");
      }
      return bytes;
    } catch (NoSuchFileException e) {
      throw CliException.usage("the plan '" + file + "' does not exist: give a file", e);
    } catch (AccessDeniedException e) {
      throw CliException.usage("the plan '" + file + "' cannot be read: check its permissions", e);
    } catch (IOException e) {
      throw CliException.couldNot(
          "the plan '" + file + "' cannot be read: " + e.getMessage() + ": give another file", e);
    }
  }

  private static Map<?, ?> object(Path file, byte[] bytes) {
    try (JsonParser parser = EXACT.createParser(bytes)) {
      Object all = EXACT.anyFrom(parser);
      if (parser.nextToken() != null) {
        throw new IllegalArgumentException("something follows the object: remove it");
      }
      if (all instanceof Map<?, ?> object) {
        return object;
      }
      throw new IllegalArgumentException(
          "must be an object with budget_bytes and mounts: put { } around them");
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

  private static CliException wrong(Path file, String message, Exception cause) {
    return CliException.usage("the plan '" + file + "': " + message, cause);
  }
}
