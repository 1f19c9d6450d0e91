package io.holdfast.fs.manual;

import io.holdfast.fs.manual.Definition.Choice;
import io.holdfast.fs.manual.Definition.Group;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/** Makes a mount's file with every key, each behind '#' and with its meaning. Stateless. */
public final class SampleFile {
  private static final int WIDTH = 92;
  private static final Pattern LINE = Pattern.compile("(.{1," + WIDTH + "})(?:\\s+|$)");

  private SampleFile() {}

  /** Returns the file, for the command {@code mount} of a program. */
  public static String of(Definition program) {
    StringBuilder text = new StringBuilder();
    comment(
        text,
        "Settings of a Holdfast mount. Copy this to /etc/holdfast/NAME.yaml, without the '#' before"
            + " what you want, and start it with 'systemctl enable --now holdfast@NAME', or with"
            + " 'holdfast mount --name NAME'. See holdfast.yaml(5).");
    text.append("\n# The dataset's directory, or s3://BUCKET/PREFIX.\n#source: /nfs/imagenet\n");
    text.append("\n# Where it appears. Default: over the source itself.\n");
    text.append("#mountpoint: /data/imagenet\n");
    for (Group group : ManualPages.mount(program).groups()) {
      List<Choice> keys = group.options().stream().filter(ManualPages::isKey).toList();
      if (!keys.isEmpty()) {
        text.append("\n# --- ").append(group.heading()).append(" ---\n");
      }
      for (Choice key : keys) {
        text.append('\n');
        comment(text, key.description());
        text.append("#%s: %s\n".formatted(ManualPages.key(key), ManualPages.value(key)));
      }
    }
    return text.toString();
  }

  private static void comment(StringBuilder text, String words) {
    LINE.matcher(words)
        .results()
        .map(MatchResult::group)
        .forEach(line -> text.append("# ").append(line.strip()).append('\n'));
  }
}
