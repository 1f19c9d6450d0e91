package io.holdfast.fs.control;

import static io.holdfast.fs.Failures.assertFails;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.ControlInodes;
import io.holdfast.fs.FakeClock;
import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.control.ControlFiles.Content;
import io.holdfast.fs.control.ControlFiles.Owner;
import io.holdfast.fs.mount.ControlNodes.Asker;
import io.holdfast.fs.origin.Attributes;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

final class ControlFilesTest {
  private static final Duration SECOND = Duration.ofSeconds(1);
  private static final int OWNER = 1000;
  private static final int GROUP = 100;
  private static final int NOBODY = 65534;

  private final FakeClock clock = new FakeClock();
  private final AtomicInteger made = new AtomicInteger();
  private final ControlFiles files = create();

  private ControlFiles create() {
    Map<String, Content> contents = new LinkedHashMap<>();
    contents.put("stats", Content.forAll(() -> bytes("snapshot " + made.incrementAndGet())));
    contents.put("config", Content.forAll(() -> bytes("a=b\n")));
    contents.put("jobs", new Content(() -> bytes("all of them"), () -> bytes("a sum")));
    return new ControlFiles(contents, new Owner(OWNER, GROUP), clock::getAsLong);
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static String text(byte[] bytes) {
    return new String(bytes, StandardCharsets.UTF_8);
  }

  private long link(String name) throws FsException {
    return files.lookup(ControlFiles.DIRECTORY, bytes(name));
  }

  /** Walks where the link of a control file leads to. */
  private long follow(byte[] target) throws FsException {
    long node = ControlFiles.DIRECTORY;
    for (String name : text(target).split("/", -1)) {
      node = files.lookup(node, bytes(name));
    }
    return node;
  }

  private static Asker thread(int thread) {
    return new Asker(thread, OWNER);
  }

  private String read(String name) throws FsException {
    return text(files.content(follow(files.readLink(link(name), thread(0)))));
  }

  /** cp looks before and after it opens a file, and would say that it was replaced meanwhile. */
  @Test
  void snapshot_gotByAThread_isTheSameForItForASecond() throws FsException {
    files.readLink(link("stats"), thread(0));
    clock.advance(Duration.ofMillis(900));
    byte[] target = files.readLink(link("stats"), thread(7));
    clock.advance(Duration.ofMillis(900));
    assertThat(files.readLink(link("stats"), thread(7))).isEqualTo(target);
    assertThat(files.readLink(link("stats"), thread(8))).isNotEqualTo(target);
    assertThat(files.readLink(link("config"), thread(7))).isNotEqualTo(target);
    clock.advance(Duration.ofMillis(200));
    assertThat(files.readLink(link("stats"), thread(7))).isNotEqualTo(target);
  }

  @Test
  void link_readWithinASecond_leadsToTheSameSnapshot() throws FsException {
    byte[] target = files.readLink(link("stats"), thread(0));
    clock.advance(SECOND.minusNanos(1));
    assertThat(files.readLink(link("stats"), thread(0))).isEqualTo(target);
    assertThat(read("stats")).isEqualTo("snapshot 1");
    assertThat(made).hasValue(1);
  }

  @Test
  void link_readAfterASecond_leadsToANewSnapshot() throws FsException {
    byte[] target = files.readLink(link("stats"), thread(0));
    clock.advance(SECOND);
    assertThat(files.readLink(link("stats"), thread(0))).isNotEqualTo(target);
    assertThat(read("stats")).isEqualTo("snapshot 2");
    assertThat(text(files.content(follow(target)))).as("of the old target").isEqualTo("snapshot 1");
  }

  /** The kernel remembers what the snapshots of the daemon before were. */
  @Test
  void snapshots_ofTheNextDaemon_haveOtherNamesAndNodes() throws FsException {
    Set<String> targets = new HashSet<>();
    int expected = 0;
    for (int second = 0; second < 10; second++) {
      for (String name : List.of("stats", "config", "jobs")) {
        for (int user : new int[] {OWNER, NOBODY}) {
          targets.add(text(files.readLink(link(name), new Asker(0, user))));
        }
      }
      expected += 4; // those of jobs are two
      clock.advance(SECOND);
    }
    ControlFiles next = create();
    byte[] after = next.readLink(link("stats"), thread(0));
    assertThat(targets)
        .hasSize(expected)
        .doesNotContain(text(after))
        .allMatch(target -> !target.endsWith("-stats") || target.length() == after.length);
    assertThat(number(after))
        .isGreaterThan(targets.stream().mapToLong(t -> number(bytes(t))).max().orElseThrow());
  }

  private static long number(byte[] target) {
    String snapshot = text(target).substring(text(target).indexOf('/') + 1);
    return Long.parseLong(snapshot.substring(0, snapshot.indexOf('-')));
  }

  @Test
  void links_ofSeveralFiles_areApart() throws FsException {
    assertThat(files.readLink(link("stats"), thread(0)))
        .isNotEqualTo(files.readLink(link("config"), thread(0)));
    assertThat(read("config")).isEqualTo("a=b\n");
    assertThat(read("stats")).isEqualTo("snapshot 1");
  }

  @Test
  void link_size_isThatOfEveryTarget() throws FsException {
    long node = link("stats");
    for (int i = 0; i < 20; i++) {
      Attributes attributes = files.attributes(node);
      assertThat(attributes.isSymlink()).isTrue();
      assertThat(files.readLink(node, thread(0))).hasSize((int) attributes.size());
      clock.advance(SECOND);
    }
  }

  @Test
  void content_ofTheOwner_isReadByTheOwnerAndRootAlone() throws FsException {
    for (int user : new int[] {OWNER, 0}) {
      long node = follow(files.readLink(link("jobs"), new Asker(0, user)));
      assertThat(text(files.content(node))).isEqualTo("all of them");
      Attributes attributes = files.attributes(node);
      assertThat(attributes.mode() & 07777).isEqualTo(0400);
      assertThat(attributes.uid()).isEqualTo(OWNER);
      assertThat(attributes.gid()).isEqualTo(GROUP);
    }
    for (int user : new int[] {NOBODY, -1}) {
      long node = follow(files.readLink(link("jobs"), new Asker(0, user)));
      assertThat(text(files.content(node))).isEqualTo("a sum");
      assertThat(files.attributes(node).mode() & 07777).isEqualTo(0444);
    }
  }

  /** A thread that is root for a moment, or whose number is another's now. */
  @Test
  void content_ofTheOwner_isNotGivenAgainToTheSameThreadOfAnotherUser() throws FsException {
    byte[] owners = files.readLink(link("jobs"), new Asker(7, OWNER));
    byte[] others = files.readLink(link("jobs"), new Asker(7, NOBODY));
    assertThat(text(files.content(follow(owners)))).isEqualTo("all of them");
    assertThat(text(files.content(follow(others)))).isEqualTo("a sum");
    assertThat(others).hasSameSizeAs(owners);
    assertThat(files.attributes(link("jobs")).size()).isEqualTo(owners.length);
  }

  @Test
  void snapshotsOfTheOwner_areInADirectoryThatOthersCannotEnter() throws FsException {
    String target = text(files.readLink(link("jobs"), new Asker(0, OWNER)));
    long directory =
        files.lookup(ControlFiles.DIRECTORY, bytes(target.substring(0, target.indexOf('/'))));
    assertThat(files.attributes(directory).mode()).isEqualTo(Attributes.DIRECTORY | 0500);
    assertThat(files.attributes(directory).uid()).isEqualTo(OWNER);
    String name = target.substring(target.indexOf('/') + 1);
    assertFails(() -> follow(bytes("snapshots/" + name)), FsError.NOT_FOUND);
    files.list(directory, (each, type, inode) -> assertThat(each).isNull());
  }

  /**
   * Otherwise a program that keeps a snapshot open would read another file that gets its number.
   */
  @Test
  void numbers_ofBothKinds_neverMeetAtAnyTime() throws FsException {
    for (long time : new long[] {0, 999_999, 1_000_000, -1, Long.MIN_VALUE, Long.MAX_VALUE}) {
      ControlFiles some =
          new ControlFiles(
              Map.of("jobs", new Content(() -> bytes("o"), () -> bytes("s"))),
              new Owner(OWNER, GROUP),
              () -> time);
      for (int user : new int[] {OWNER, NOBODY}) {
        String target = text(some.readLink(1, new Asker(0, user)));
        long number = number(bytes(target));
        assertThat(number).isBetween(64L, 999_999_999_999L);
        assertThat(number % 2).isEqualTo(user == OWNER ? 1 : 0);
      }
    }
  }

  /** One user who reads all links in a loop makes some snapshots a second. */
  @Test
  void snapshots_ofMuchContent_takeBoundedMemoryAndTheNewestStays() {
    Snapshots snapshots = new Snapshots(clock::getAsLong);
    byte[] large = new byte[(int) Snapshots.MOST_BYTES / 4 + 1];
    for (int i = 0; i < 100; i++) {
      snapshots.put(new FileSnapshot(i, "snapshot-" + i, large, clock.getAsLong()));
    }
    assertThat(IntStream.range(0, 100).filter(i -> snapshots.at(i) != null))
        .containsExactly(97, 98, 99);
    assertThat(snapshots.named("snapshot-99")).isNotNull();
    assertThat(snapshots.named("snapshot-96")).isNull();
  }

  @Test
  void link_target_isRelativeAndBeneath() throws FsException {
    String target = text(files.readLink(link("stats"), thread(0)));
    assertThat(target).doesNotStartWith("/").doesNotContain("..");
  }

  @Test
  void snapshot_size_isExact() throws FsException {
    long node = follow(files.readLink(link("stats"), thread(0)));
    Attributes attributes = files.attributes(node);
    assertThat(attributes.isRegular()).isTrue();
    assertThat(attributes.size()).isEqualTo(files.content(node).length);
    assertThat(attributes.mode() & 0777).isEqualTo(0444);
    assertThat(attributes.modified()).isPositive();
  }

  @Test
  void snapshot_forgottenLater_failsStale() throws FsException {
    byte[] target = files.readLink(link("stats"), thread(0));
    long node = follow(target);
    clock.advance(Duration.ofSeconds(29));
    assertThat(files.content(node)).isNotEmpty();
    clock.advance(Duration.ofSeconds(2));
    assertFails(() -> files.content(node), FsError.STALE);
    assertFails(() -> files.attributes(node), FsError.STALE);
    assertFails(() -> follow(target), FsError.NOT_FOUND);
    assertThat(read("stats")).isEqualTo("snapshot 2");
  }

  @Test
  void list_directory_givesTheLinksOnly() throws FsException {
    read("stats");
    List<String> names = new ArrayList<>();
    files.list(
        ControlFiles.DIRECTORY,
        (name, type, inode) -> {
          names.add(text(name));
          assertThat(type).isEqualTo(Attributes.SYMLINK);
        });
    assertThat(names).containsExactly("stats", "config", "jobs");
  }

  @Test
  void list_snapshots_givesNothing() throws FsException {
    read("stats");
    long snapshots = files.lookup(ControlFiles.DIRECTORY, bytes("snapshots"));
    assertThat(files.attributes(snapshots).isDirectory()).isTrue();
    List<String> names = new ArrayList<>();
    files.list(snapshots, (name, type, inode) -> names.add(text(name)));
    assertThat(names).isEmpty();
    assertFails(() -> files.list(link("stats"), (n, t, i) -> {}), FsError.NOT_DIRECTORY);
  }

  @Test
  void lookup_unknownName_failsNotFound() {
    assertFails(() -> link("none"), FsError.NOT_FOUND);
    assertFails(() -> follow(bytes("snapshots/000000000001-stats")), FsError.NOT_FOUND);
    assertFails(() -> files.lookup(link("stats"), bytes("x")), FsError.NOT_FOUND);
  }

  @Test
  void readLink_ofTheDirectory_failsInvalid() {
    assertFails(() -> files.readLink(ControlFiles.DIRECTORY, thread(0)), FsError.INVALID);
  }

  @Test
  void inodes_areThoseOfControlFiles_andTheirOwn() throws FsException {
    long snapshot = follow(files.readLink(link("stats"), thread(0)));
    List<Long> inodes = new ArrayList<>();
    for (long node : new long[] {ControlFiles.DIRECTORY, link("stats"), link("config"), snapshot}) {
      inodes.add(files.attributes(node).inode());
    }
    assertThat(inodes).doesNotHaveDuplicates().allMatch(ControlInodes::has);
  }
}
