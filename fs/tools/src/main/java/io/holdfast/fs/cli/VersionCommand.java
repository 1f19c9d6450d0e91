package io.holdfast.fs.cli;

import com.fasterxml.jackson.jr.ob.JSON;
import io.holdfast.fs.daemon.Version;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code holdfast version}. */
@Command(
    name = "version",
    customSynopsis = "holdfast version [--json]",
    header = "Print the version.",
    optionListHeading = "%nOptions:%n",
    footerHeading = "%nExamples:%n",
    footer = {
      "  holdfast version",
      "  holdfast --version",
      "  holdfast version --json | jq -r .version"
    })
final class VersionCommand implements Callable<Integer> {
  @Mixin private final CommandOutput output = new CommandOutput();

  @Override
  public Integer call() throws IOException {
    output.text((output.isJson() ? JSON.std.asString(facts()) : text()) + "\n");
    return 0;
  }

  private static Map<String, String> facts() {
    Map<String, String> facts = new LinkedHashMap<>();
    facts.put("version", Version.VERSION);
    facts.put("java", System.getProperty("java.version"));
    facts.put("system", System.getProperty("os.name"));
    facts.put("kernel", System.getProperty("os.version"));
    facts.put("architecture", System.getProperty("os.arch"));
    return facts;
  }

  static String text() {
    Map<String, String> facts = facts();
    return "holdfast %s (Java %s, %s %s)"
        .formatted(
            facts.get("version"), facts.get("java"), facts.get("system"), facts.get("kernel"));
  }
}
