package io.holdfast.commands;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.jr.ob.JSON;
import io.holdfast.fs.units.Visible;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The lines that {@code holdfast-supervise} writes into the daemon's log, which has users' paths.
 */
class SupervisorLogTest {
  /** All of the script but its last line, which begins to supervise. */
  private static final String FUNCTIONS =
      "eval \"$(sed '$d' \"$here/src/main/dist/bin/holdfast-supervise\")\"\n";

  /** Characters that end a line, move a cursor or are invisible, each between two others. */
  private static final String HOSTILE =
      Stream.of(
                  IntStream.rangeClosed(0x01, 0x9f),
                  IntStream.of(0xad, 0xfeff),
                  IntStream.rangeClosed(0x200b, 0x200f),
                  IntStream.rangeClosed(0x2028, 0x202e),
                  IntStream.rangeClosed(0x2060, 0x206f))
              .flatMapToInt(each -> each)
              .mapToObj(Character::toString)
              .collect(Collectors.joining(" ü"))
          + ".";

  @TempDir Path temp;

  private String said(String format) throws IOException {
    Path text = Files.writeString(temp.resolve("text"), HOSTILE);
    Path log = temp.resolve("log");
    Shell.Result result =
        Shell.run(
            List.of(),
            FUNCTIONS + "format=$1 log=$2; say \"giving $(cat \"$3\") up\"",
            format,
            log.toString(),
            text.toString());
    assertThat(result.exit()).as(result.output()).isZero();
    return Files.readString(log);
  }

  /** A mountpoint with a newline made a line of its own in the log, with any text. */
  @Test
  void text_withHostileNames_isOneLineAsOfTheDaemon() throws IOException {
    assertThat(said("text"))
        .endsWith(" WARN  [supervise] giving " + Visible.of(HOSTILE) + " up\n")
        .hasLineCount(1);
  }

  @Test
  void json_withHostileNames_isOneObject() throws IOException {
    String line = said("json");
    assertThat(line).hasLineCount(1);
    assertThat(JSON.std.mapFrom(line))
        .containsEntry("level", "WARN")
        .containsEntry("formattedMessage", "giving " + Visible.of(HOSTILE) + " up");
  }
}
