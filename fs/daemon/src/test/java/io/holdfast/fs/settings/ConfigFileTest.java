package io.holdfast.fs.settings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A mount's file: its allowed content, and one test for each mistake. */
class ConfigFileTest {
  @TempDir Path temp;
  private Path file;

  @BeforeEach
  void prepare() throws IOException {
    file = temp.toRealPath().resolve("imagenet.yaml");
  }

  @Test
  void file_ofEveryKind_isTakenAsItIsWritten() throws IOException {
    GivenSettings given =
        read(
            """
            # of the night shift
            source: /data/imagenet
            mountpoint: "/mnt/imagenet"
            capacity: 64G      # a comment
            memory: 80%
            keep: ['*.idx', 'val/']
            exclude:
              - '*.tmp'
              - "a b/"
            metadata-ttl: indefinite
            s3-path-style: yes
            allow-other: false
            xattr: off
            file-mode: 0640
            peers: [node1:7070, 'node2:7070']
            log-file: /var/log/../log/x.log
            state-dir: none
            """);
    assertThat(values(given, SettingTable.SOURCE)).containsExactly("/data/imagenet");
    assertThat(values(given, SettingTable.MOUNTPOINT)).containsExactly("/mnt/imagenet");
    assertThat(values(given, SettingTable.CAPACITY)).containsExactly("64G");
    assertThat(values(given, SettingTable.MEMORY)).containsExactly("80%");
    assertThat(values(given, SettingTable.KEEP)).containsExactly("*.idx", "val/");
    assertThat(values(given, SettingTable.EXCLUDE)).containsExactly("*.tmp", "a b/");
    assertThat(values(given, SettingTable.METADATA_TTL)).containsExactly("indefinite");
    assertThat(values(given, SettingTable.S3_PATH_STYLE)).containsExactly("true");
    assertThat(values(given, SettingTable.ALLOW_OTHER)).containsExactly("false");
    assertThat(values(given, SettingTable.XATTR)).containsExactly("off");
    assertThat(values(given, SettingTable.FILE_MODE)).containsExactly("0640");
    assertThat(values(given, SettingTable.PEERS)).containsExactly("node1:7070,node2:7070");
    assertThat(values(given, SettingTable.LOG_FILE)).containsExactly("/var/log/x.log");
    assertThat(values(given, SettingTable.STATE_DIR)).containsExactly("none");
    assertThat(given.get(SettingTable.EXCLUDE).orElseThrow().source()).isEqualTo(file + ":7");
    assertThat(given.get(SettingTable.EXCLUDE).orElseThrow().label())
        .isEqualTo(file + ":7: exclude");
    assertThat(given.get(SettingTable.PIN)).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "\n\n", "# nothing yet\n", "---\n", "---\n# nothing\n...\n", "{}"})
  void file_withNothing_saysNothing(String text) throws IOException {
    assertThat(read(text).all()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '^',
      value = {
        "capcity: 64G|1: unknown key 'capcity': did you mean 'capacity'?",
        "--capacity: 64G|1: unknown key '--capacity': did you mean 'capacity'?",
        "item_size: 8M|1: unknown key 'item_size': did you mean 'item-size'?",
        "heap: 1g|1: unknown key 'heap': keys are source, mountpoint and the options of mount",
        "config: /x|1: unknown key 'config': ",
        "help: true|1: unknown key 'help': ",
        "pin: hard¶capacity: 1G¶pin: soft|3: pin is there twice, first in line 1: say it once",
        "pin: hard¶¶capacity:|3: capacity has no value: write 'capacity: SIZE|P%', or leave it out",
        "capacity: ''|1: capacity has no value: write 'capacity: SIZE|P%'",
        "capacity: ~|1: capacity has no value",
        "keep: []|1: keep has an empty list: write 'keep: GLOB', or leave it out",
        "keep: [a, [b]]|1: keep takes a list of texts: write 'keep: GLOB'",
        "keep:¶  - a¶  -|3: keep takes a list of texts",
        "keep: *.idx|1: keep: what begins with * refers to something: write it in quotes",
        "keep: [*.idx]|1: keep: what begins with * refers to something: write it in quotes",
        "keep: &a [b]|1: keep: tags (!x) and anchors (&x) have no meaning here",
        "name: !!java.io.File x|1: name: tags (!x) and anchors (&x) have no meaning here",
        "capacity: [1G, 2G]|1: capacity takes one value and no list: write 'capacity: SIZE|P%'",
        "capacity:¶  size: 1G|2: capacity takes no mapping: write 'capacity: SIZE|P%'",
        "? [a]¶: b|1: not a key: write one 'key: value' a line, such as 'capacity: 64G'",
        "s3-anonymous: maybe|1: s3-anonymous 'maybe' is not known: write true or false",
        "source: data|1: source 'data' is relative: write a path from /",
        "mountpoint: data|1: mountpoint 'data' is relative: write a path from /",
        "tls-key: key.pem|1: tls-key 'key.pem' is relative: write a path from /",
        "name: \"a\\tb\"|1: name has a tab, a line break or the like in it",
        "name: \"a\\0b\"|1: name has a tab, a line break or the like in it",
        "capacity 64G|1: not a mapping: write one 'key: value' a line, such as 'capacity: 64G'",
        "- capacity|1: not a mapping: write one",
        "pin: hard¶---¶pin: soft|2: a second document begins: one file is for one mount",
        "pin: hard¶\tcapacity: 1G|2: capacity: there is a tab, and YAML wants spaces: put spaces",
        "keep:¶\t- a|2: there is a tab, and YAML wants spaces",
        "keep: [a¶pin: hard|2: ",
        "pin: hard: soft|1: pin: mapping values are not allowed here",
        "capacity: %5|1: capacity: found character '%' that cannot start any token",
        "name: \"\\UFFFFFFFF\"|1: after \\x, \\u and \\U come 2, 4 and 8 hexadecimal digits",
        "name: `x|1: name: found character '`' that cannot start any token"
      })
  void file_withAMistake_isToldInOneLine(String text, String message) throws IOException {
    String content = text.replace('¶', '\n') + "\n";
    assertThat(failure(content).getMessage()).startsWith(file + ":" + message).hasLineCount(1);
  }

  /** The parser fails itself there. */
  /**
   * The line was that of the file's end, or of the next quote, and the words those of the parser.
   */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "capacity: 64G\nsource: \"/data/set\nmountpoint: /mnt\n",
        "capacity: 64G\nsource: '/data/set\nmountpoint: '/mnt'\n",
        "keep:\n  - '*.idx\n  - 'val/'\n"
      })
  void quote_thatIsNotClosed_isToldWhereItBegins(String text) {
    assertThatThrownBy(() -> read(text))
        .hasMessage(file + ":2: a quote that is not closed: write the same one at the end");
  }

  @Test
  void file_thatEndsInAnEscape_isToldInOneLine() throws IOException {
    assertThat(failure("pin: hard\nname: \"a\\u").getMessage())
        .startsWith(file + ":2: after \\x, \\u and \\U come 2, 4 and 8")
        .hasLineCount(1);
  }

  @Test
  void file_thatCannotBeRead_isToldInOneLine() throws IOException {
    assertThatThrownBy(() -> ConfigFile.read(file))
        .hasMessage(file + ": there is no such file: check the path");
    assertThatThrownBy(() -> ConfigFile.read(temp))
        .hasMessage(temp + ": cannot be read: a directory: name a file");
    Files.write(file, new byte[] {'p', (byte) 0xff, '\n'});
    assertThatThrownBy(() -> ConfigFile.read(file))
        .hasMessage(file + ": not a text in UTF-8: save it as one");
    Files.write(file, "pin: \1".getBytes(StandardCharsets.UTF_8));
    assertThatThrownBy(() -> ConfigFile.read(file)).hasMessageStartingWith(file + ": not YAML: ");
  }

  /** Files for which a reader of all of YAML would take hours or all memory. */
  @Test
  void file_madeToHurt_isRefusedAtOnce() throws IOException {
    StringBuilder laughs = new StringBuilder("a: &a ['lol', 'lol']\n");
    for (char c = 'b'; c < 'z'; c++) {
      laughs.append("%c: &%c [*%c, *%c]\n".formatted(c, c, c - 1, c - 1));
    }
    assertThat(failure(laughs.toString())).hasMessageStartingWith(file + ":1: unknown key 'a'");
    assertThat(failure("keep: " + "[".repeat(200_000)))
        .hasMessageStartingWith(file + ":1: keep takes a list of texts");
    assertThat(failure("{".repeat(200_000))).hasMessageStartingWith(file + ":1: not a key");
    assertThat(failure("#".repeat(256 * 1024 + 1)))
        .hasMessage(file + ": more than 256 KiB: this is no configuration file");
  }

  private GivenSettings read(String text) throws IOException {
    Files.writeString(file, text);
    return ConfigFile.read(file);
  }

  private SettingsException failure(String text) throws IOException {
    Files.writeString(file, text);
    return catchThrowableOfType(SettingsException.class, () -> ConfigFile.read(file));
  }

  private static List<String> values(GivenSettings given, Setting<?> key) {
    return given.get(key).orElseThrow().values();
  }
}
