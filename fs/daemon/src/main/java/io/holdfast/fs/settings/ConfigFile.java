package io.holdfast.fs.settings;

import io.holdfast.fs.units.NearestWord;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Parse;
import org.snakeyaml.engine.v2.events.Event;
import org.snakeyaml.engine.v2.events.NodeEvent;
import org.snakeyaml.engine.v2.events.ScalarEvent;
import org.snakeyaml.engine.v2.exceptions.Mark;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;

/**
 * Reads a mount's YAML file: one mapping, whose keys are the names of options and of the two
 * arguments. Values are scalars or, if an option may be given several times, lists of scalars. The
 * reader refuses everything else of YAML (aliases, nesting, tags) as soon as it meets it, so no
 * file can take long or much memory. Values are texts as they are written: {@code 0644} is not a
 * number. For one file; not thread-safe.
 */
public final class ConfigFile {
  /** The largest configuration file. */
  public static final int MOST_BYTES = 256 * 1024;

  /** A value, or an element of a list, that begins with a quote and has no second one. */
  private static final Pattern UNCLOSED_QUOTE =
      Pattern.compile("\\s*(?:[\\w-]+:|-)\\s+(?:\"[^\"]*|'[^']*)");

  private static final Pattern BAD_ESCAPE =
      Pattern.compile(
          "\\\\(x(?!\\p{XDigit}{2})|u(?!\\p{XDigit}{4})|U(?!00(0\\p{XDigit}|10)\\p{XDigit}{4}))");

  private static final String NO_ALIAS =
      "what begins with * refers to something: write it in quotes: '*.idx'";

  private final Path file;
  private final List<String> lines;
  private final Iterator<Event> events;
  private final Map<Setting<?>, Integer> linesOfKeys = new HashMap<>();

  private ConfigFile(Path file, String text) {
    this.file = file;
    this.lines = text.lines().toList();
    LoadSettings settings = LoadSettings.builder().setCodePointLimit(MOST_BYTES).build();
    this.events = new Parse(settings).parseString(text).iterator();
  }

  /**
   * Reads a file.
   *
   * @throws SettingsException if the file cannot be read or has a mistake, with one line that says
   *     where, and what is allowed
   */
  public static GivenSettings read(Path file) {
    return new ConfigFile(file, text(file)).parse();
  }

  /**
   * Reads the text of a configuration file: at most {@link #MOST_BYTES} bytes of UTF-8.
   *
   * @throws SettingsException if it cannot be read, with one line that names the file
   */
  public static String text(Path file) {
    try (InputStream in = Files.newInputStream(file)) {
      byte[] bytes = in.readNBytes(MOST_BYTES + 1);
      if (bytes.length > MOST_BYTES) {
        throw new SettingsException(file + ": more than 256 KiB: this is no configuration file");
      }
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    } catch (NoSuchFileException e) {
      throw new SettingsException(file + ": there is no such file: check the path");
    } catch (AccessDeniedException e) {
      throw new SettingsException(
          file + ": not permitted to read it: change its permissions, or run as another user");
    } catch (CharacterCodingException e) {
      throw new SettingsException(file + ": not a text in UTF-8: save it as one");
    } catch (IOException e) {
      String why = Files.isDirectory(file) ? "a directory" : String.valueOf(e.getMessage());
      throw new SettingsException(file + ": cannot be read: " + why + ": name a file");
    }
  }

  private GivenSettings parse() {
    try {
      expect(Event.ID.StreamStart);
      Event first = events.next();
      return first.getEventId() == Event.ID.StreamEnd ? GivenSettings.NOTHING : document();
    } catch (MarkedYamlEngineException e) {
      throw syntax(e);
    } catch (IllegalArgumentException e) {
      // the parser does not check escapes: NumberFormatException, or no such character
      throw escape();
    } catch (YamlEngineException e) {
      throw new SettingsException(
          file
              + ": not YAML: "
              + oneLine(String.valueOf(e.getMessage()))
              + ": see CONFIGURATION.md");
    }
  }

  private void expect(Event.ID id) {
    Event event = events.next();
    if (event.getEventId() != id) {
      throw wrong(event, "not expected here: write one 'key: value' a line");
    }
  }

  private GivenSettings document() {
    Event root = events.next();
    List<Given> given = new ArrayList<>();
    if (root.getEventId() == Event.ID.MappingStart) {
      plain(root, "the file");
      Event key = events.next();
      while (key.getEventId() != Event.ID.MappingEnd) {
        given.add(entry(key));
        key = events.next();
      }
    } else if (!isNull(root)) {
      throw wrong(root, "not a mapping: write one 'key: value' a line, such as 'capacity: 64G'");
    }
    expect(Event.ID.DocumentEnd);
    Event end = events.next();
    if (end.getEventId() != Event.ID.StreamEnd) {
      throw wrong(end, "a second document begins: one file is for one mount");
    }
    return GivenSettings.of(given);
  }

  private Given entry(Event event) {
    if (!(event instanceof ScalarEvent scalar)) {
      throw wrong(event, "not a key: write one 'key: value' a line, such as 'capacity: 64G'");
    }
    Setting<?> key = key(scalar);
    Integer before = linesOfKeys.putIfAbsent(key, line(event));
    if (before != null) {
      throw wrong(event, key.name() + " is there twice, first in line " + before + ": say it once");
    }
    List<String> values = values(key, events.next(), event);
    return new Given(key, values, file + ":" + line(event));
  }

  private Setting<?> key(ScalarEvent event) {
    String text = event.getValue();
    Optional<Setting<?>> key = SettingTable.find(text).filter(k -> k != SettingTable.CONFIG);
    return key.orElseThrow(
        () -> {
          List<String> known =
              SettingTable.rows().stream()
                  .filter(k -> k != SettingTable.CONFIG)
                  .map(Setting::name)
                  .toList();
          String hint =
              NearestWord.of(text.replaceFirst("^--", ""), known)
                  .map(near -> "did you mean '" + near + "'?")
                  .orElse(
                      "keys are source, mountpoint and the options of mount without their dashes");
          return wrong(event, "unknown key '" + oneLine(text) + "': " + hint);
        });
  }

  private List<String> values(Setting<?> key, Event event, Event keyEvent) {
    if (event instanceof ScalarEvent scalar) {
      if (isNull(event) || scalar.getValue().isEmpty()) {
        throw wrong(keyEvent, key.name() + " has no value: " + write(key) + ", or leave it out");
      }
      return List.of(value(key, scalar));
    }
    if (event.getEventId() == Event.ID.Alias) {
      throw wrong(event, key.name() + ": " + NO_ALIAS);
    }
    if (event.getEventId() != Event.ID.SequenceStart) {
      throw wrong(event, key.name() + " takes no mapping: " + write(key));
    }
    plain(event, key.name());
    boolean joined = key.kind().isCommaList();
    if (!joined && !key.isList()) {
      throw wrong(event, key.name() + " takes one value and no list: " + write(key));
    }
    List<String> values = list(key);
    if (values.isEmpty()) {
      throw wrong(event, key.name() + " has an empty list: " + write(key) + ", or leave it out");
    }
    return joined ? List.of(String.join(",", values)) : values;
  }

  private List<String> list(Setting<?> key) {
    List<String> values = new ArrayList<>();
    for (Event each = events.next();
        each.getEventId() != Event.ID.SequenceEnd;
        each = events.next()) {
      if (each.getEventId() == Event.ID.Alias) {
        throw wrong(each, key.name() + ": " + NO_ALIAS);
      }
      if (!(each instanceof ScalarEvent scalar) || scalar.getValue().isEmpty()) {
        throw wrong(each, key.name() + " takes a list of texts: " + write(key));
      }
      values.add(value(key, scalar));
    }
    return values;
  }

  private String value(Setting<?> key, ScalarEvent event) {
    plain(event, key.name());
    String value = event.getValue();
    if (value.chars().anyMatch(Character::isISOControl)) {
      throw wrong(event, key.name() + " has a tab, a line break or the like in it: leave that out");
    }
    if (key.kind().isPath(value) && !value.startsWith("/")) {
      throw wrong(event, key.name() + " '" + value + "' is relative: write a path from /");
    }
    try {
      return key.kind().normal(value);
    } catch (IllegalArgumentException e) {
      throw wrong(event, key.name() + " " + e.getMessage());
    }
  }

  private static String write(Setting<?> key) {
    return "write '" + key.name() + ": " + key.label() + "'";
  }

  /** Refuses tags and anchors. */
  private void plain(Event event, String what) {
    boolean tagged = event instanceof ScalarEvent scalar && scalar.getTag().isPresent();
    boolean anchored = event instanceof NodeEvent node && node.getAnchor().isPresent();
    if (tagged || anchored) {
      throw wrong(
          event, what + ": tags (!x) and anchors (&x) have no meaning here: leave them out");
    }
  }

  private static boolean isNull(Event event) {
    return event instanceof ScalarEvent scalar
        && scalar.isPlain()
        && (scalar.getValue().isEmpty()
            || scalar.getValue().equals("~")
            || scalar.getValue().equals("null"));
  }

  private SettingsException syntax(MarkedYamlEngineException e) {
    int line = e.getProblemMark().map(mark -> mark.getLine() + 1).orElse(1);
    int unclosed = unclosedQuote(line);
    if (unclosed > 0) {
      return new SettingsException(
          file + ":" + unclosed + ": a quote that is not closed: write the same one at the end");
    }
    String text = line <= lines.size() ? lines.get(line - 1) : "";
    String key = text.matches("\\s*[\\w-]+:.*") ? text.strip().replaceFirst(":.*", ": ") : "";
    String problem = oneLine(String.valueOf(e.getProblem()));
    if (String.valueOf(e.getContext()).contains("alias")) {
      problem = NO_ALIAS;
    } else if (text.contains("\t")) {
      problem = "there is a tab, and YAML wants spaces: put spaces in its place";
    }
    return new SettingsException(file + ":" + line + ": " + key + problem);
  }

  /** Returns the last line, up to a given one, in which a quote is not closed; or 0. */
  private int unclosedQuote(int last) {
    int line = Math.min(last, lines.size());
    while (line > 0 && !UNCLOSED_QUOTE.matcher(lines.get(line - 1)).matches()) {
      line--;
    }
    return line;
  }

  private SettingsException escape() {
    int line = 1;
    while (line < lines.size() && !BAD_ESCAPE.matcher(lines.get(line - 1)).find()) {
      line++;
    }
    return new SettingsException(
        file
            + ":"
            + line
            + ": after \\x, \\u and \\U come 2, 4 and 8 hexadecimal digits: write \\\\ for a"
            + " backslash");
  }

  private SettingsException wrong(Event event, String what) {
    return new SettingsException(file + ":" + line(event) + ": " + what);
  }

  private static int line(Event event) {
    return event.getStartMark().map(Mark::getLine).orElse(0) + 1;
  }

  private static String oneLine(String text) {
    return text.replaceAll("\\s+", " ").strip();
  }
}
