package io.holdfast.fs.daemon;

import static io.holdfast.fs.daemon.SettingsRules.require;

import io.holdfast.fs.control.ControlDirectory;
import io.holdfast.fs.origin.s3.S3Origin;
import io.holdfast.fs.origin.s3.S3Settings;
import java.net.URI;
import java.net.URISyntaxException;
import java.time.Duration;
import java.util.Locale;
import java.util.Objects;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Collects what is said of a source in S3: how it is reached, and whose its files are to be, which
 * the store does not know. Not thread-safe.
 */
public final class S3Options {
  /** Permission bits of files where none are given. */
  static final int DEFAULT_FILE_MODE = 0644;

  /** Permission bits of directories where none are given. */
  static final int DEFAULT_DIRECTORY_MODE = 0755;

  private static final String NO_ENDPOINT =
      "'%s' is no address of a store: write it as https://HOST:PORT";

  private static final int OCTAL = 8;
  private static final Pattern MODE = Pattern.compile("0?[0-7]{3}");
  private static final Pattern ID = Pattern.compile("[0-9]{1,9}");
  private static final Pattern REGION = Pattern.compile("[a-z0-9]+(-[a-z0-9]+)*");

  private @Nullable URI endpoint;
  private @Nullable String region;
  private boolean pathStyle;
  private boolean anonymous;
  private boolean requesterPays;
  private @Nullable Integer uid;
  private @Nullable Integer gid;
  private @Nullable Integer fileMode;
  private @Nullable Integer directoryMode;

  S3Options() {}

  /** Where the store is, {@code http://HOST:PORT}; by default what the region says. */
  public void endpoint(String url) {
    // What holds an @ may hold a password, and is not repeated.
    require(url.indexOf('@') < 0, "names a user: give credentials by the environment");
    try {
      URI uri = new URI(url);
      boolean http = "http".equals(uri.getScheme()) || "https".equals(uri.getScheme());
      boolean plain = uri.getQuery() == null && uri.getFragment() == null;
      require(http && uri.getHost() != null && plain, NO_ENDPOINT, url);
      endpoint = uri;
    } catch (URISyntaxException e) {
      throw new IllegalArgumentException(String.format(Locale.ROOT, NO_ENDPOINT, url), e);
    }
  }

  /** The bucket's region; by default what the environment says. */
  public void region(String value) {
    require(REGION.matcher(value).matches(), "'%s' is no region: write one like us-east-1", value);
    region = value;
  }

  /** Whether the bucket's name is in the path of each request, and not in the host's name. */
  public void pathStyle(boolean value) {
    pathStyle = value;
  }

  /** Whether requests are sent without credentials. */
  public void anonymous(boolean value) {
    anonymous = value;
  }

  /** Whether who reads pays for it, and not the bucket's owner. */
  public void requesterPays(boolean value) {
    requesterPays = value;
  }

  /** Owner of all files and directories, a number; by default the user of this process. */
  public void uid(String number) {
    uid = id(number);
  }

  /** Group of all files and directories, a number; by default that of this process. */
  public void gid(String number) {
    gid = id(number);
  }

  /** Permission bits of files, octal. */
  public void fileMode(String octal) {
    fileMode = mode(octal);
  }

  /** Permission bits of directories, octal. */
  public void directoryMode(String octal) {
    directoryMode = mode(octal);
  }

  private static int id(String number) {
    require(ID.matcher(number).matches(), "'%s' is no number of a user or group", number);
    return Integer.parseInt(number);
  }

  private static int mode(String octal) {
    require(MODE.matcher(octal).matches(), "'%s' is no mode: write three octal digits: 644", octal);
    return Integer.parseInt(octal, OCTAL);
  }

  /**
   * Puts together what was given, or returns null where the source is a directory.
   *
   * @param deadline how long a request may take
   */
  @Nullable S3Settings settings(Source source, Duration deadline) {
    if (!(source instanceof Source.S3 objects)) {
      return null;
    }
    return new S3Settings(
        objects.location(),
        endpoint,
        region,
        pathStyle,
        anonymous,
        requesterPays,
        Objects.requireNonNullElse(fileMode, DEFAULT_FILE_MODE),
        Objects.requireNonNullElse(directoryMode, DEFAULT_DIRECTORY_MODE),
        uid == null ? ControlDirectory.ownUid() : uid,
        gid == null ? ControlDirectory.ownGid() : gid,
        deadline);
  }

  /** Returns the bytes of memory outside the heap that what is read from there may take. */
  static long memoryBytes(Source source) {
    return source instanceof Source.S3 ? S3Origin.BUFFER_BYTES : 0;
  }

  /** Checks that nothing was given where the source is a directory. */
  void check(Source source) {
    if (source instanceof Source.S3) {
      return;
    }
    refuse(Settings.Key.S3_ENDPOINT, endpoint != null);
    refuse(Settings.Key.S3_REGION, region != null);
    refuse(Settings.Key.S3_PATH_STYLE, pathStyle);
    refuse(Settings.Key.S3_ANONYMOUS, anonymous);
    refuse(Settings.Key.S3_REQUESTER_PAYS, requesterPays);
    refuse(Settings.Key.UID, uid != null);
    refuse(Settings.Key.GID, gid != null);
    refuse(Settings.Key.FILE_MODE, fileMode != null);
    refuse(Settings.Key.DIR_MODE, directoryMode != null);
  }

  private static void refuse(Settings.Key key, boolean given) {
    require(
        !given,
        "--%s means nothing for a directory: leave it out, or give a source s3://BUCKET/PREFIX",
        key.text());
  }

  /** Returns a setting's value as text. */
  static String text(S3Settings settings, Settings.Key key) {
    Object value =
        switch (key) {
          case S3_ENDPOINT -> settings.endpoint();
          case S3_REGION -> settings.region();
          case S3_PATH_STYLE -> yesOrNo(settings.pathStyle());
          case S3_ANONYMOUS -> yesOrNo(settings.anonymous());
          case S3_REQUESTER_PAYS -> yesOrNo(settings.requesterPays());
          case UID -> settings.uid();
          case GID -> settings.gid();
          case FILE_MODE -> octal(settings.fileMode());
          case DIR_MODE -> octal(settings.directoryMode());
          default -> throw new IllegalArgumentException(key + " is not of S3");
        };
    return value == null ? "-" : value.toString();
  }

  private static String yesOrNo(boolean value) {
    return value ? "yes" : "no";
  }

  private static String octal(int mode) {
    return String.format(Locale.ROOT, "%04o", mode);
  }
}
