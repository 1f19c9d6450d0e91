package io.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Objects are overwritten under the mount. A reader gets one version or an error, and after a
 * refresh or the metadata's time-to-live the new version.
 */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class S3ChangesIT {
  private static final Duration NEWS_DEADLINE = Duration.ofSeconds(60);
  private static final Duration READ_DEADLINE = Duration.ofSeconds(60);

  /** How many versions those who read meanwhile have seen when they end. */
  private static final int VERSIONS = 10;

  private static final int SMALL = 100_000;
  private static final int LARGE = 3_150_049;
  private static final int OBJECTS = 8;
  private static final String NO_SUCH_FILE = "no such file";

  @Order(1)
  @RegisterExtension
  static final Bucket BUCKET = new Bucket();

  @Order(2)
  @RegisterExtension
  static final Sandbox SANDBOX = new Sandbox();

  /** A mount that believes what it knows until it is told to look anew. */
  @RegisterExtension
  static final SharedMount PATIENT = new SharedMount(S3ChangesIT::mountWithRoomForHalf);

  @Test
  void fetch_objectChangesMeanwhile_neverMixesVersions() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    BUCKET.put("hot/object", Stamps.bytes(0, 1, 0, LARGE));
    Mount mount =
        BUCKET.mount(SANDBOX, "hot", "--capacity=64M", "--item-size=1M", "--metadata-ttl=50ms");
    List<Child> readers = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      readers.add(SANDBOX.startJava(Rereader.class, mount.path("object"), 0, VERSIONS));
    }

    long version = 2;
    long end = System.nanoTime() + READ_DEADLINE.toNanos();
    while (readers.stream().anyMatch(Child::isAlive) && System.nanoTime() < end) {
      BUCKET.put("hot/object", Stamps.bytes(0, version, 0, LARGE));
      version++;
      Await.holdsWithin(Duration.ofMillis(random.nextInt(250)), () -> false);
    }

    for (Child reader : readers) {
      Child.Result result = reader.await(READ_DEADLINE);
      System.out.printf("%d versions written; reader: %s", version, result.out());
      assertThat(result.exit()).as("%s, seed %d", result, seed).isZero();
    }
    String last = "version " + (version - 1) + " of " + LARGE;
    Await.value(NEWS_DEADLINE, last, () -> found(mount, "object", 0), last::equals);
  }

  /**
   * Whether resident or not, and whether the news come by a refresh or by the time-to-live. There
   * is room for the first half of the objects.
   */
  @Test
  void objects_residentOrNot_overwrittenAndDeleted_areOldOrNewAndThenNew() {
    for (int i = 0; i < OBJECTS; i++) {
      BUCKET.put("news/set/" + i, Stamps.bytes(i, 1, 0, size(i)));
    }
    Mount patient = PATIENT.get();
    patient.refresh();
    Mount curious = mountWithRoomForHalf("--metadata-ttl=1s");
    for (Mount mount : List.of(patient, curious)) {
      for (int i = 0; i < OBJECTS; i++) {
        assertThat(found(mount, "set/" + i, i)).isEqualTo(version(1, i));
      }
      mount.settledStats();
      for (int i = 0; i < OBJECTS; i++) {
        assertThat(mount.xattr("set/" + i, "resident").equals("0"))
            .as("%d is not resident", i)
            .isEqualTo(i >= OBJECTS / 2);
      }
    }

    List<String> now = new ArrayList<>();
    for (int i = 0; i < OBJECTS; i++) {
      if (i % 4 == 3) {
        BUCKET.delete("news/set/" + i);
        now.add(NO_SUCH_FILE);
      } else {
        BUCKET.put("news/set/" + i, Stamps.bytes(i, 2, 0, size(i)));
        now.add(version(2, i));
      }
    }

    for (int i = 0; i < OBJECTS; i++) {
      assertThat(found(patient, "set/" + i, i)).isIn(version(1, i), now.get(i), "error");
    }
    patient.refresh();
    for (int i = 0; i < OBJECTS; i++) {
      int which = i;
      assertThat(found(patient, "set/" + i, i)).isEqualTo(now.get(i));
      Await.value(
          NEWS_DEADLINE,
          now.get(i),
          () -> found(curious, "set/" + which, which),
          now.get(i)::equals);
    }
  }

  @Test
  void directory_objectsComeAndGo_showsThemAfterARefresh() throws IOException {
    BUCKET.put("news/dirs/old/a", new byte[10]);
    Mount mount = PATIENT.get();
    mount.refresh();
    assertThat(mount.path("dirs/old/a")).exists();
    assertThat(mount.path("dirs/new/b")).doesNotExist();

    BUCKET.put("news/dirs/new/b", Stamps.bytes(7, 1, 0, SMALL));
    BUCKET.delete("news/dirs/old/a");
    mount.refresh();

    assertThat(found(mount, "dirs/new/b", 7)).isEqualTo("version 1 of " + SMALL);
    assertThat(mount.path("dirs/old")).doesNotExist();
    assertThat(mount.path("dirs").toFile().list()).containsExactly("new");
    BUCKET.delete("news/dirs/new/b"); // and leaves the other tests its room
    mount.refresh();
  }

  /** Mounts all that has news, with room for the first half of the objects. */
  private static Mount mountWithRoomForHalf(String... more) {
    long room = 0;
    for (int i = 0; i < OBJECTS / 2; i++) {
      room += Dataset.pageBytes(size(i));
    }
    List<String> options =
        new ArrayList<>(List.of("--capacity=" + room, "--window=0", "--item-size=1M"));
    options.addAll(List.of(more));
    return BUCKET.mount(SANDBOX, "news", options.toArray(String[]::new));
  }

  private static int size(int file) {
    return file % 2 == 0 ? SMALL : LARGE;
  }

  private static String version(long version, int file) {
    return "version " + version + " of " + size(file);
  }

  /** Returns the result of a whole pass over a file. */
  private static String found(Mount mount, String name, long stamp) {
    try {
      byte[] bytes = Files.readAllBytes(mount.path(name));
      Stamps.Finding finding = Stamps.check(stamp, 0, bytes, bytes.length);
      return finding.isWhole()
          ? "version " + finding.version() + " of " + bytes.length
          : finding.wrong();
    } catch (NoSuchFileException e) {
      return NO_SUCH_FILE;
    } catch (IOException e) {
      return "error";
    }
  }
}
