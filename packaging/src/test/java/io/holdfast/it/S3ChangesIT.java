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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

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
  private static final String NO_SUCH_FILE = "no such file";

  @Order(1)
  @RegisterExtension
  static final Bucket BUCKET = new Bucket();

  @Order(2)
  @RegisterExtension
  static final Sandbox SANDBOX = new Sandbox();

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

  /** Whether resident or not, and whether the news come by a refresh or by the time-to-live. */
  @ParameterizedTest(name = "--policy {0}")
  @ValueSource(strings = {"minio", "none"})
  void objects_overwrittenAndDeleted_areOldOrNewAndThenNew(String policy) {
    for (int i = 0; i < 4; i++) {
      BUCKET.put("set/" + i, Stamps.bytes(i, 1, 0, size(i)));
    }
    Mount patient =
        BUCKET.mount(SANDBOX, "set", "--policy=" + policy, "--window=0", "--item-size=1M");
    Mount curious =
        BUCKET.mount(
            SANDBOX,
            "set",
            "--policy=" + policy,
            "--window=0",
            "--item-size=1M",
            "--metadata-ttl=1s");
    for (int i = 0; i < 4; i++) {
      assertThat(found(patient, "" + i, i)).isEqualTo(version(1, i));
      assertThat(found(curious, "" + i, i)).isEqualTo(version(1, i));
    }

    List<String> now = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      BUCKET.put("set/" + i, Stamps.bytes(i, 2, 0, size(i)));
      now.add(version(2, i));
    }
    BUCKET.delete("set/3");
    now.add(NO_SUCH_FILE);

    for (int i = 0; i < 4; i++) {
      assertThat(found(patient, "" + i, i)).isIn(version(1, i), now.get(i), "error");
    }
    patient.refresh();
    for (int i = 0; i < 4; i++) {
      int which = i;
      assertThat(found(patient, "" + i, i)).isEqualTo(now.get(i));
      Await.value(
          NEWS_DEADLINE, now.get(i), () -> found(curious, "" + which, which), now.get(i)::equals);
    }
    patient.terminate();
    curious.terminate();
  }

  @Test
  void directory_objectsComeAndGo_showsThemAfterARefresh() throws IOException {
    BUCKET.put("dirs/old/a", new byte[10]);
    Mount mount = BUCKET.mount(SANDBOX, "dirs");
    assertThat(mount.path("old/a")).exists();
    assertThat(mount.path("new/b")).doesNotExist();

    BUCKET.put("dirs/new/b", Stamps.bytes(7, 1, 0, SMALL));
    BUCKET.delete("dirs/old/a");
    mount.refresh();

    assertThat(found(mount, "new/b", 7)).isEqualTo("version 1 of " + SMALL);
    assertThat(mount.path("old")).doesNotExist();
    assertThat(mount.mountpoint().toFile().list()).containsExactly("new");
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
