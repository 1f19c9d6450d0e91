package io.holdfast.fs.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.host.FakeHost;
import io.holdfast.fs.page.PageSite;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The commands that the page of a mount offers for copying are commands of this version. */
class PageCommandsTest {
  private static final Pattern COMMAND = Pattern.compile("`holdfast ([^`]*)`");

  @Test
  void commands_ofThePage_areUnderstood() throws IOException {
    String script;
    try (InputStream in = Objects.requireNonNull(PageSite.class.getResourceAsStream("page.js"))) {
      script = new String(in.readAllBytes(), UTF_8);
    }
    List<String> commands =
        COMMAND
            .matcher(script)
            .results()
            .map((MatchResult each) -> each.group(1).replace("${name}", "data"))
            .toList();
    assertThat(commands).hasSizeGreaterThan(3);
    for (String command : commands) {
      assertThat(
              Holdfast.commandLine(new CliContext(new FakeHost(Path.of("/run"))))
                  .parseArgs(command.split(" ", -1))
                  .subcommand())
          .as(command)
          .isNotNull();
    }
  }
}
