package io.holdfast.fs.mount.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.FsException;
import io.holdfast.fs.linux.Memory;
import io.holdfast.fs.mount.PendingReplies;
import io.holdfast.fs.origin.Attributes;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicLong;
import jnr.ffi.Pointer;
import jnr.ffi.Runtime;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Listings as they are written, for readers that look at the entries and for readers that do not.
 */
final class DirectoriesTest {
  private static final int ROOT = 1;
  private static final int LARGE = 1 << 16;
  private static final int READER = 7000;

  private final OneFile filesystem = new OneFile();
  private final PendingReplies pendingReplies = new PendingReplies();
  private final Set<Long> dropped = new TreeSet<>();
  private final AtomicLong nanos = new AtomicLong();
  private final KeptListings keptListings = new KeptListings(dropped::add, nanos::get);
  private final AtomicLong now = new AtomicLong();

  /** How far the clock goes on whenever it is asked. */
  private long step;

  private final Directories directories =
      new Directories(filesystem, pendingReplies, keptListings, () -> now.getAndAdd(step));
  private final Pointer memory =
      jnr.ffi.Memory.allocateDirect(Runtime.getSystemRuntime(), LARGE, true);

  /** An entry as it was written. */
  private record Written(String name, long offset, long node) {}

  private List<Written> read(Directories.Range range, int capacity) throws FsException {
    long buffer = memory.address();
    List<Long> shown = new ArrayList<>();
    int length = directories.read(range, shown, buffer, capacity);
    assertThat(length).isLessThanOrEqualTo(capacity);
    int entry = range.plus() ? Wire.ENTRY : 0;
    List<Written> all = new ArrayList<>();
    for (long at = buffer; at < buffer + length; ) {
      long dirent = at + entry;
      byte[] name = Memory.bytes(dirent + Wire.DIRENT, Memory.getInt(dirent + 16));
      long node = range.plus() ? Memory.getLong(at) : 0;
      all.add(
          new Written(new String(name, StandardCharsets.UTF_8), Memory.getLong(dirent + 8), node));
      at = dirent + Wire.direntSize(name);
    }
    assertThat(shown).hasSize((int) all.stream().filter(each -> each.node() != 0).count());
    return all;
  }

  /** Lists from an offset on; returns the places of entries that come with attributes. */
  private List<Long> looks(int thread, long directory, long offset) throws FsException {
    return read(new Directories.Range(directory, thread, offset, true, false), LARGE).stream()
        .filter(each -> each.node() == OneFile.FILE)
        .map(each -> each.offset() - 2)
        .toList();
  }

  /** Whatever fits, from wherever the reader is, and each name once. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void read_manyEntriesInSmallReplies_isComplete(boolean plus) throws FsException {
    filesystem.entries = 3000;
    List<String> names = new ArrayList<>();
    long offset = 0;
    while (true) {
      List<Written> some = read(new Directories.Range(ROOT, READER, offset, plus, false), 1000);
      if (some.isEmpty()) {
        break;
      }
      some.forEach(each -> names.add(each.name()));
      offset = some.get(some.size() - 1).offset();
    }
    assertThat(names).startsWith(".", "..", "file", "file2").endsWith("file3000");
    assertThat(names).hasSize(3002).doesNotHaveDuplicates();
  }

  @Test
  void whoIsNotKnown_getsSomeWithWhatTheyLeadTo_andOneWithout() throws FsException {
    filesystem.entries = 40;
    assertThat(looks(READER, ROOT, 0)).hasSize(16).startsWith(2L).endsWith(17L);
  }

  @Test
  void whoLooksUpNothing_getsNamesFromThenOn() throws FsException {
    filesystem.entries = 40;
    looks(READER, ROOT, 0);
    assertThat(looks(READER, ROOT, 19)).isEmpty();
    assertThat(looks(READER, 2, 0)).isEmpty();
    assertThat(looks(READER, 3, 0)).isEmpty();
    assertThat(looks(READER + 1, 2, 0)).as("of another thread").hasSize(16);
  }

  @Test
  void whoHasLookedOneUp_getsAllAtOnce_forAsLongAsItDoes() throws FsException {
    filesystem.entries = 40;
    looks(READER, ROOT, 0);
    looks(READER, ROOT, 19);
    directories.looked(2, READER);
    assertThat(looks(READER, ROOT, 20)).as("it was of another directory").isEmpty();
    directories.looked(ROOT, READER);
    assertThat(looks(READER, ROOT, 20)).as("in the midst of a listing, but one").hasSize(21);
    directories.looked(ROOT, READER);
    assertThat(looks(READER, ROOT, 42)).as("the end of the listing").isEmpty();
    assertThat(looks(READER, 2, 0)).as("but one, which tells").hasSize(39).startsWith(2L);
    directories.looked(2, READER);
    assertThat(looks(READER, 3, 0)).hasSize(39);
    assertThat(looks(READER, 4, 0)).as("it did not look").isEmpty();
  }

  /** Like a loader that reads a list of the files first. */
  @Test
  void whoLooksAtOneOfMany_getsSomeMoreWithWhatTheyLeadTo_andThenNames() throws FsException {
    filesystem.entries = 1000;
    looks(READER, ROOT, 0);
    directories.looked(ROOT, READER);
    assertThat(looks(READER, ROOT, 19)).hasSizeBetween(100, 900);
    assertThat(looks(READER, ROOT, 900)).isEmpty();
    assertThat(looks(READER, 2, 0)).isEmpty();
  }

  /** They come from containers whose threads the daemon does not see. */
  @Test
  void whoCannotBeTold_isKnownByTheDirectory() throws FsException {
    filesystem.entries = 40;
    assertThat(looks(0, 10, 0)).hasSize(16);
    assertThat(looks(0, 11, 0)).hasSize(16);
    directories.looked(10, 0);
    assertThat(looks(0, 10, 19)).as("one who looks").hasSize(22);
    assertThat(looks(0, 11, 19)).as("one who does not").isEmpty();
    assertThat(looks(0, 12, 0)).as("another directory").hasSize(16);
  }

  @Test
  void whoIsForgotten_getsNamesForTheRest_inPiecesOfAnyLength() throws FsException {
    filesystem.entries = 40;
    looks(READER, ROOT, 0);
    looks(READER + 1024, ROOT, 0);
    List<Written> rest = read(new Directories.Range(ROOT, READER, 19, true, false), LARGE);
    assertThat(rest).hasSize(23).allMatch(each -> each.node() == 0);
  }

  @Test
  void directories_comeAsFilesDo_andAreNotHeldBack() throws FsException {
    filesystem.entries = 40;
    filesystem.type = Attributes.DIRECTORY;
    assertThat(looks(READER, ROOT, 0)).hasSize(16).startsWith(1L);
    assertThat(looks(READER, ROOT, 18)).isEmpty();
    assertThat(looks(READER, 2, 0)).as("nothing was learned").hasSize(16);
  }

  @Test
  void slowOrigin_getsARequestForTheRest() throws FsException {
    filesystem.entries = 40;
    step = Duration.ofMillis(100).toNanos();
    assertThat(read(new Directories.Range(ROOT, READER, 0, true, true), LARGE))
        .as("the entries of half a second, and the two dots")
        .hasSizeLessThan(10);
  }

  @Test
  void emptyDirectory_tellsNothing() throws FsException {
    filesystem.entries = 0;
    assertThat(looks(READER, ROOT, 0)).isEmpty();
    filesystem.entries = 40;
    assertThat(looks(READER, 2, 0)).as("not known still").hasSize(16);
  }

  @Test
  void kernelThatChooses_getsWhatItAsksFor() throws FsException {
    filesystem.entries = 40;
    for (int round = 0; round < 2; round++) {
      assertThat(read(new Directories.Range(ROOT, READER, 0, true, true), LARGE))
          .filteredOn(each -> each.node() == OneFile.FILE)
          .hasSize(16);
      assertThat(read(new Directories.Range(ROOT, READER, 18, true, true), LARGE))
          .hasSize(24)
          .allMatch(each -> each.node() == OneFile.FILE);
    }
  }

  /** The tree answered without the origin, and the time of its answer ended meanwhile. */
  @Test
  void entry_isBelievedForTheShorterTime_ofBeforeAndAfter() throws FsException {
    filesystem.names = Duration.ofMillis(1);
    filesystem.whenListed = () -> filesystem.names = Duration.ofSeconds(60);
    read(new Directories.Range(ROOT, READER, 2, true, true), LARGE);
    assertThat(Memory.getLong(memory.address())).isEqualTo(OneFile.FILE);
    assertThat(Memory.getLong(memory.address() + 16)).as("entry_valid").isZero();
    assertThat(Memory.getInt(memory.address() + 32)).as("its nanoseconds").isEqualTo(1_000_000);
  }

  private void lookUp(int thread, long directory, int times) {
    for (int i = 0; i < times; i++) {
      directories.looked(directory, thread);
    }
  }

  /** The kernel keeps what another program has listed, and answers from that. */
  @Test
  void whoLooksAtWhatTheKernelKeeps_getsAllWithWhatTheyLeadTo_onceThatIsDropped()
      throws FsException {
    filesystem.entries = 40;
    int other = READER + 1;
    looks(READER, 2, 0);
    looks(READER, 3, 0);
    lookUp(other, 2, 15);
    assertThat(dropped).as("it may be looking for a few").isEmpty();
    lookUp(other, 2, 1);
    assertThat(dropped).containsExactly(2L, 3L);
    assertThat(looks(other, 3, 0)).as("but one, which tells").hasSize(39);
    assertThat(looks(READER, 3, 0)).as("names, as before").isEmpty();
  }

  @Test
  void whoLooksHereAndThere_orWhereNothingIsKept_dropsNothing() throws FsException {
    looks(READER, 2, 0);
    looks(READER, 3, 0);
    for (int i = 0; i < 100; i++) {
      lookUp(READER + 1, 2 + i % 2, 1);
    }
    lookUp(READER + 1, 4, 100);
    assertThat(dropped).isEmpty();
  }

  /** Jobs that open files at random look like it. */
  @Test
  void listings_areDroppedAtMostOnceASecond() throws FsException {
    for (int i = 0; i < 10; i++) {
      looks(READER, 2, 0);
      lookUp(READER + 1 + i, 2, 100);
    }
    assertThat(dropped).containsExactly(2L);
    dropped.clear();
    nanos.addAndGet(1_000_000_000);
    looks(READER, 2, 0);
    lookUp(READER + 50, 2, 100);
    assertThat(dropped).containsExactly(2L);
  }

  @Test
  void listingOfADirectory_thatTheKernelHasForgotten_isNotDropped() throws FsException {
    looks(READER, 2, 0);
    looks(READER, 3, 0);
    keptListings.forgotten(3);
    lookUp(READER + 1, 2, 16);
    assertThat(dropped).containsExactly(2L);
  }
}
