package io.holdfast.fs.debug;

import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Removes secrets from text: known secrets, wherever they stand, and everything that looks like
 * one. In doubt it removes. Immutable and thread-safe.
 */
public final class Redactor {
  /** The replacement of a secret. */
  public static final String REMOVED = "[removed]";

  /** The shortest known secret: a shorter one would be found within other words. */
  private static final int SHORTEST = 8;

  /** Parts of the names of secrets. */
  private static final String WORDS =
      "secret|passw(?:or)?d|passphrase|token|credential|private[_-]?key|api[_-]?key|access[_-]?key"
          + "|account[_-]?key|session[_-]?key|authorization|signature|cookie";

  private static final Pattern SECRET_NAME = Pattern.compile("(?i).*(?:" + WORDS + ").*");

  private static final int FLAGS = Pattern.CASE_INSENSITIVE;

  /**
   * A name before {@code =} or {@code :}; {@link #OPTION} is one with a hyphen, before a space. A
   * search begins only where a name begins, and takes the first of the words in it: anybody may
   * plant a line of many such words, and a search from each of them to the end would take minutes.
   */
  private static final String NAME =
      "(?<![\\w.-])(?>[\\w.-]*?(?:"
          + WORDS
          + "))(?![\\w.-]*-file(?![\\w.-]))[\\w.-]*+[\"']?\\s*[=:]\\s*";

  private static final String OPTION =
      "(?<![\\w-])(?>\\w*+-[\\w-]*?(?:" + WORDS + "))(?![\\w-]*-file(?![\\w-]))[\\w-]*+\\s+";

  /**
   * A value as a shell takes it: pieces in quotes next to each other; to the end of the line if a
   * quote is open. Every repetition is possessive: any other one of a group takes stack for each
   * time, and anybody may plant a long line.
   */
  private static final String QUOTED =
      "(?:(?:\"[^\"\\\\\\r\\n]*+(?:\\\\.[^\"\\\\\\r\\n]*+)*+\""
          + "|'[^'\\\\\\r\\n]*+(?:\\\\.[^'\\\\\\r\\n]*+)*+'|\\\\.)++|[\"'][^\\r\\n]*+)";

  /**
   * A value without quotes, to the end of the line: a secret may have blanks and separators in it.
   */
  private static final String UNQUOTED = "[^\\s\"'][^\\r\\n]*";

  /** The rules, in the order in which they apply. */
  private static final List<Rule> RULES = rules();

  private final List<String> known;

  /**
   * Creates a redactor.
   *
   * @param secrets known secrets; those of less than eight letters are left to the rules
   */
  public Redactor(Collection<String> secrets) {
    // the longer secrets first, because they may hold shorter ones
    known =
        secrets.stream()
            // a log may have cut a key that has several lines
            .flatMap(String::lines)
            .map(String::strip)
            .filter(line -> !line.startsWith("-----"))
            .filter(secret -> secret.length() >= SHORTEST)
            .distinct()
            .sorted(Comparator.comparingInt(String::length).reversed())
            .toList();
  }

  /** Tells whether an environment variable of that name may hold a secret. */
  public static boolean isSecretName(String name) {
    return SECRET_NAME.matcher(name).matches();
  }

  /** Returns a text without secrets. */
  public String redact(String text) {
    String clean = text;
    for (String secret : known) {
      clean = clean.replace(secret, REMOVED);
    }
    for (Rule rule : RULES) {
      clean = rule.form().matcher(clean).replaceAll(rule.replacement());
    }
    return clean;
  }

  private static List<Rule> rules() {
    String removed = Matcher.quoteReplacement(REMOVED);
    String quoted = "$1\"" + removed + "\"";
    return List.of(
        // keys in PEM, even if the beginning or the end of the text cuts one
        rule(
            "-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\\z)",
            removed,
            Pattern.DOTALL),
        rule("\\A(?:(?!-----BEGIN ).)*?-----END [A-Z ]*PRIVATE KEY-----", removed, Pattern.DOTALL),
        // user:password@host, or a token alone; a password may have any of the separators in it
        rule("(?<!\\S)((?>\\S*?[a-z0-9+.-]://))\\S*@", "$1" + removed + "@", FLAGS),
        // Authorization: Bearer ...
        rule("\\b(Bearer|Basic|AWS4-HMAC-SHA256)\\s+[^\\r\\n\"']+", "$1 " + removed, FLAGS),
        // AWS_ANYTHING=value
        rule("\\b(AWS_[A-Z0-9_]+\\s*[=:]\\s*)" + QUOTED, quoted, 0),
        rule("\\b(AWS_[A-Z0-9_]+\\s*[=:]\\s*)" + UNQUOTED, "$1" + removed, 0),
        // "secretKey" : "value", secret-key=value, --password value; but not paths of files
        rule(
            "(\"[^\"\\r\\n]{0,60}(?:" + WORDS + ")[^\"\\r\\n]{0,60}\"\\s*:\\s*)" + QUOTED,
            quoted,
            FLAGS),
        rule("(" + NAME + ")" + QUOTED, quoted, FLAGS),
        rule("(" + NAME + ")" + UNQUOTED, "$1" + removed, FLAGS),
        rule("(" + OPTION + ")" + QUOTED, quoted, FLAGS),
        rule("(" + OPTION + ")" + UNQUOTED, "$1" + removed, FLAGS),
        // ?X-Amz-Signature=...&sig=...
        rule("([?&](?:X-Amz-[\\w-]+|sig|key|auth|code)=)[^&\\s\"']+", "$1" + removed, FLAGS),
        // texts with the form of keys: of AWS, of GitHub and the like, JSON web tokens
        rule("\\b(?:AKIA|ASIA|AROA|AIDA)[A-Z0-9]{16}\\b", removed, 0),
        rule("\\b(?:gh[pousr]_|github_pat_|glpat-|xox[abpr]-|hf_|sk-)[\\w-]{16,}", removed, 0),
        rule(
            "(?<![\\w-])((?>[\\w-]*?(?=\\beyJ)))eyJ[\\w-]{8,}+\\.[\\w-]{8,}(?:\\.[\\w-]*)?",
            "$1" + removed,
            0),
        // 40 letters, like a secret key of AWS
        rule(
            "(?<![\\w/+=.-])(?=[A-Za-z0-9/+]*[a-z])(?=[A-Za-z0-9/+]*[A-Z])(?=[A-Za-z0-9/+]*\\d)"
                + "[A-Za-z0-9+][A-Za-z0-9/+]{39}(?![\\w/+=.-])",
            removed,
            0),
        // lines of a key in base64; sums in hexadecimal have letters of one case only
        rule(
            "(?<![\\w/+-])(?=[\\w/+-]*[a-z])(?=[\\w/+-]*[A-Z])(?=[\\w/+-]*\\d)[\\w/+-]{61,}=*",
            removed,
            0));
  }

  private static Rule rule(String pattern, String replacement, int flags) {
    return new Rule(Pattern.compile(pattern, flags), replacement);
  }

  /** The form of a secret, and its replacement. */
  private record Rule(Pattern form, String replacement) {}
}
