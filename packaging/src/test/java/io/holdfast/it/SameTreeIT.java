package io.holdfast.it;

import static io.holdfast.posix.Libc.LIBC;
import static io.holdfast.posix.Libc.RUNTIME;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.posix.Posix;
import io.holdfast.posix.Posix.Entry;
import io.holdfast.posix.RawPath;
import io.holdfast.posix.Stat;
import java.io.IOException;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import jnr.ffi.Memory;
import jnr.ffi.Pointer;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A program cannot tell the mount from its origin, except that nothing can be changed there. */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SameTreeIT {
  @RegisterExtension static final Sandbox SANDBOX = new Sandbox();

  private static final Set<String> NOT_WALKED = Set.of(OddTree.BIG, OddTree.CROWD);

  private static RawPath origin = RawPath.of("");
  private static RawPath mounted = RawPath.of("");

  /**
   * The origin again, through a read-only mount of the kernel's own: what errors should look like.
   */
  private static RawPath readOnly = RawPath.of("");

  private static Mount mount;

  @BeforeAll
  static void mountOddTree() {
    // the mount table has its name, which is one of several options for libfuse
    Path tree = SANDBOX.folder("some where, else");
    OddTree.create(RawPath.of(tree));
    Path bind = SANDBOX.folder("read_only");
    SANDBOX.command("mount", "--bind", tree.toString(), bind.toString());
    SANDBOX.command("mount", "-o", "remount,bind,ro", bind.toString());
    SANDBOX.command("sync", "-f", tree.toString());
    // Names are bytes, whatever the locale of the user who mounts.
    mount =
        SANDBOX.mountWith(
            List.of(),
            Map.of("LC_ALL", "C", "LANG", "C"),
            tree.toString(),
            SANDBOX.folder("mnt"),
            "--capacity",
            "64M");
    origin = RawPath.of(tree);
    readOnly = RawPath.of(bind);
    mounted = RawPath.of(mount.mountpoint());
  }

  @Test
  void walk_everyName_agreesInAllThatAProgramCanSee() throws IOException {
    TreeDiff diff = new TreeDiff(origin, mounted, NOT_WALKED);

    assertThat(diff.differences()).isEmpty();
    assertThat(diff.compared()).isGreaterThan(OddTree.DEPTH + 80);
  }

  @Test
  void walk_secondTime_agreesFromTheCachesToo() throws IOException {
    new TreeDiff(origin, mounted, NOT_WALKED).differences();

    assertThat(new TreeDiff(origin, mounted, NOT_WALKED).differences()).isEmpty();
  }

  @Test
  void mountTable_ofTheMount_namesTypeSourceAndReadOnly() {
    List<MountTable.Row> rows = MountTable.holdfastAt(mount.mountpoint());

    assertThat(rows).hasSize(1);
    assertThat(rows.get(0).source()).isEqualTo(mount.source());
    assertThat(rows.get(0).options().split(",")).contains("ro");
  }

  @Test
  void failingCalls_ofAllKinds_giveTheErrorsOfAReadOnlyMount() throws IOException {
    Map<String, String> expected = new LinkedHashMap<>();
    Map<String, String> actual = new LinkedHashMap<>();

    FailingCalls.all()
        .forEach(
            (name, call) -> {
              expected.put(name, Posix.errorName(call.applyAsLong(readOnly)));
              actual.put(name, Posix.errorName(call.applyAsLong(mounted)));
            });

    assertThat(actual).containsExactlyEntriesOf(expected);
    assertThat(actual.values()).contains("EROFS", "ENOENT", "ENOTDIR", "ENAMETOOLONG", "EINVAL");
  }

  @Test
  void mutations_ofExistingThings_areRefusedAndChangeNothing() throws IOException {
    Map<String, String> results = new TreeMap<>();
    Stat before = Posix.lstat(origin.child(OddTree.PLAIN));

    FailingCalls.mutations()
        .forEach((name, call) -> results.put(name, Posix.errorName(call.applyAsLong(mounted))));

    assertThat(results).allSatisfy((name, error) -> assertThat(error).as(name).isEqualTo("EROFS"));
    assertThat(Posix.lstat(origin.child(OddTree.PLAIN))).isEqualTo(before);
  }

  @Test
  void pread_oddOffsetsAndPastTheEnd_givesTheSameBytes() throws IOException {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    for (String name :
        List.of(OddTree.PLAIN, OddTree.EMPTY, "class_b/size_9000001", "sparse.bin")) {
      long size = Posix.lstat(origin.child(name)).size();
      for (int i = 0; i < 60; i++) {
        long offset = (long) (random.nextDouble() * (size + 10_000));
        int length = 1 + random.nextInt(i % 3 == 0 ? 700_000 : 5000);
        assertThat(Posix.pread(mounted.child(name), offset, length))
            .as("%s: %d bytes at %d, seed %d", name, length, offset, seed)
            .isEqualTo(Posix.pread(origin.child(name), offset, length));
      }
      assertThat(Posix.pread(mounted.child(name), size, 100)).as(name).isEmpty();
      assertThat(Posix.pread(mounted.child(name), size + (1L << 33), 100)).as(name).isEmpty();
    }
  }

  @Test
  void bigFile_fiveGigabytes_hasTheSameBytesAtChosenPlacesBeyondFourToo() throws Exception {
    RawPath there = origin.child(OddTree.BIG);
    RawPath here = mounted.child(OddTree.BIG);
    assertThat(Posix.lstat(here)).isEqualTo(Posix.lstat(there));
    assertThat(Posix.lstat(here).size()).isEqualTo(OddTree.BIG_SIZE);

    for (long offset : OddTree.BIG_PARTS) {
      long first = Math.max(0, offset - 777);
      int length = OddTree.BIG_PART + 2000;
      assertThat(sha256(here, first, length))
          .as("at %d", first)
          .isEqualTo(sha256(there, first, length));
    }
    long region = (1L << 32) - (4 << 20);
    assertThat(sha256(here, region, 16 << 20)).isEqualTo(sha256(there, region, 16 << 20));
    long stamped = OddTree.BIG_PARTS.get(4);
    byte[] bytes = Posix.pread(here, stamped, OddTree.BIG_PART);
    assertThat(Stamps.check(OddTree.STAMP, stamped, bytes, bytes.length).wrong()).isEmpty();
  }

  private static String sha256(RawPath path, long offset, int length)
      throws IOException, NoSuchAlgorithmException {
    byte[] bytes = Posix.pread(path, offset, length);
    return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
  }

  @Test
  void crowdedDirectory_hundredThousandEntries_listsTheSame() throws IOException {
    List<Entry> entries = Posix.list(mounted.child(OddTree.CROWD));

    assertThat(entries).hasSize(OddTree.CROWD_SIZE);
    assertThat(entries.equals(Posix.list(origin.child(OddTree.CROWD)))).isTrue();
    for (int i = 0; i < OddTree.CROWD_SIZE; i += 997) {
      String name = OddTree.crowdName(i);
      assertThat(Posix.lstat(mounted.child(name))).isEqualTo(Posix.lstat(origin.child(name)));
    }
  }

  @Test
  void namesAsShellsSeeThem_nulSeparatedFind_givesTheSame() {
    String find = "cd \"$1\" && find . -path ./crowd -prune -o -print0 | sort -z | sha256sum";

    String there = SANDBOX.command("sh", "-c", find, "sh", origin.toString()).mustSucceed().out();
    String here = SANDBOX.command("sh", "-c", find, "sh", mounted.toString()).mustSucceed().out();

    assertThat(here).isEqualTo(there);
  }

  @Test
  void permissions_ofAnotherUser_areThoseOfTheOrigin() {
    String cat =
        "cd \"$1\" && for f in modes/file_* modes/folder_*/file modes/owned* class_a/*; do"
            + " cat \"$f\" | sha256sum; test -x \"$f\"; echo \"$f $?\"; done 2>&1;"
            + " for d in modes/folder_*; do ls \"$d\"; done 2>&1";
    String[] asNobody = {
      "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "sh", "-c", cat, "sh", ""
    };

    asNobody[asNobody.length - 1] = readOnly.toString();
    String there = SANDBOX.command(asNobody).out();
    asNobody[asNobody.length - 1] = mounted.toString();
    String here = SANDBOX.command(asNobody).out();

    assertThat(there).contains("Permission denied");
    assertThat(here).isEqualTo(there);
  }

  @Test
  void statfs_ofTheMount_tellsTheOriginsSizesAndReadOnly() {
    long[] there = statvfs(origin);
    long[] here = statvfs(mounted);

    assertThat(new long[] {here[BLOCK_SIZE], here[BLOCKS], here[FILES], here[NAME_MAX]})
        .as("block size, blocks, files, longest name")
        .isEqualTo(new long[] {there[BLOCK_SIZE], there[BLOCKS], there[FILES], there[NAME_MAX]});
    assertThat(here[FLAGS] & 1).as("read-only").isEqualTo(1);
  }

  private static final int BLOCK_SIZE = 0;
  private static final int BLOCKS = 2;
  private static final int FILES = 5;
  private static final int FLAGS = 9;
  private static final int NAME_MAX = 10;

  private static long[] statvfs(RawPath path) {
    Pointer buffer = Memory.allocateDirect(RUNTIME, 256);
    Posix.must("statvfs", path, () -> LIBC.statvfs(path.cString(), buffer));
    long[] words = new long[NAME_MAX + 1];
    buffer.get(0, words, 0, words.length);
    return words;
  }

  @Test
  void copies_madeByOrdinaryTools_equalTheOrigin() {
    Path copy = SANDBOX.folder("copy");
    SANDBOX
        .command(
            "sh",
            "-c",
            "cd \"$1\" && tar cf - --exclude=./crowd --exclude=./big.bin . | tar xf - -C \"$2\"",
            "sh",
            mounted.toString(),
            copy.toString())
        .mustSucceed();

    Child.Result diff =
        SANDBOX.command(
            "diff",
            "-r",
            "--no-dereference",
            "-x",
            "crowd",
            "-x",
            "big.bin",
            "-x",
            "special",
            origin.toString(),
            copy.toString());

    assertThat(diff.out() + diff.err()).isEmpty();
  }
}
