package io.holdfast.it;

import static io.holdfast.posix.Libc.LIBC;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.holdfast.posix.Posix;
import io.holdfast.posix.RawPath;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/** A tree with everything that a file system can hold and a walk could trip over. */
final class OddTree {
  static final String PLAIN = "class_a/plain.jpg";
  static final long PLAIN_SIZE = 300_001;
  static final String EMPTY = "class_a/empty";
  static final String BIG = "big.bin";
  static final long BIG_SIZE = 5L << 30;
  static final String CROWD = "crowd";
  static final int CROWD_SIZE = 100_000;
  static final String DEEP = "deep";
  static final int DEPTH = 64;

  /** The size of the records of data in the big file, which are around interesting offsets. */
  static final int BIG_PART = 1 << 20;

  static final List<Long> BIG_PARTS =
      List.of(
          0L,
          (1L << 30) - BIG_PART / 2,
          (1L << 31) - BIG_PART / 2,
          (1L << 32) - BIG_PART / 2,
          (1L << 32) + (100L << 20),
          BIG_SIZE - BIG_PART);

  /** The number that {@link Stamps} knows every file of the tree by. */
  static final long STAMP = 42;

  private static final int[] SIZES = {
    1, 63, 4095, 4096, 4097, 65_535, 131_072, 131_073, 1_048_577, 9_000_001
  };

  private final RawPath root;

  private OddTree(RawPath root) {
    this.root = root;
  }

  /** Makes all of it, in a folder that exists. Needs to be root: devices and owners. */
  static void create(RawPath root) {
    OddTree tree = new OddTree(root);
    tree.files();
    tree.names();
    tree.links();
    tree.modes();
    tree.times();
    tree.specials();
    tree.xattrs();
    tree.deep();
    tree.crowd();
    tree.sparse();
  }

  private void files() {
    mkdir("class_a");
    mkdir("class_b");
    mkdir("class_empty");
    write(RawPath.of(PLAIN), 0, (int) PLAIN_SIZE);
    Posix.create(at(EMPTY));
    for (int size : SIZES) {
      write(RawPath.of("class_b/size_" + size), 0, size);
    }
  }

  private void names() {
    mkdir("names");
    List<byte[]> names = new ArrayList<>();
    for (String name :
        List.of(
            "x".repeat(255),
            "\u754c".repeat(85),
            " leading and trailing ",
            "two\nlines",
            "tab\tand\rreturn",
            "-rf",
            "back\\slash",
            "'single' \"double\" `tick` $HOME %s",
            "...",
            ".hidden",
            "\u00fcml\u00e4ut",
            "u\u0308 combined",
            "\ud83d\ude80 rocket",
            "\u0001control\u007f",
            ".holdfast")) {
      names.add(RawPath.of(name).toBytes());
    }
    names.add(new byte[] {'c', 'a', 'f', (byte) 0xe9});
    names.add(new byte[] {(byte) 0xff, (byte) 0xfe});
    names.add(new byte[] {(byte) 0xed, (byte) 0xa0, (byte) 0x80});
    names.add(new byte[] {(byte) 0xc0, (byte) 0xaf});
    for (byte[] name : names) {
      write(RawPath.of("names").child(RawPath.of(name)), 0, 1000);
    }
    RawPath folder = RawPath.of("names").child(RawPath.of(new byte[] {'d', (byte) 0x80}));
    Posix.must("mkdir", folder, () -> LIBC.mkdir(at(folder).cString(), 0755));
    write(folder.child("inside"), 0, 5000);
  }

  private void links() {
    mkdir("links");
    symlink("../" + PLAIN, "links/relative");
    symlink("/etc/passwd", "links/absolute");
    symlink(at(PLAIN).toString(), "links/absolute_into_the_origin");
    symlink("no/such/file", "links/dangling");
    symlink("../class_b", "links/to_folder");
    symlink("loop_b", "links/loop_a");
    symlink("loop_a", "links/loop_b");
    symlink("t".repeat(4000), "links/long");
    symlink("../../../../../../etc/hostname", "links/outside");
    byte[] target = {'.', '.', '/', (byte) 0xff, 'x'};
    RawPath odd = at("links/invalid_utf8");
    Posix.must("symlink", odd, () -> LIBC.symlink(RawPath.of(target).cString(), odd.cString()));
    RawPath second = at("links/hard_link");
    Posix.must("link", second, () -> LIBC.link(at(PLAIN).cString(), second.cString()));
  }

  private void modes() {
    mkdir("modes");
    for (int mode : new int[] {0, 0400, 0444, 0600, 0640, 0644, 0755, 04755, 02755, 0111}) {
      String name = "modes/file_%04o".formatted(mode);
      write(RawPath.of(name), 0, 100);
      chmod(name, mode);
    }
    for (int mode : new int[] {0700, 0711, 0755, 01777, 02775}) {
      String name = "modes/folder_%04o".formatted(mode);
      mkdir(name);
      write(RawPath.of(name + "/file"), 0, 100);
      chmod(name, mode);
    }
    write(RawPath.of("modes/owned"), 0, 100);
    chown("modes/owned", 1000, 1001);
    write(RawPath.of("modes/owned_by_the_last"), 0, 100);
    chown("modes/owned_by_the_last", -3, -4);
    chown("links/dangling", 1000, 1000);
  }

  private void times() {
    mkdir("times");
    time("times/nanos", 1_700_000_000L, 1);
    time("times/almost_the_next_second", 1_700_000_000L, 999_999_999);
    time("times/zero", 0, 0);
    time("times/before_1970", -86_400, 500_000_000);
    time("times/after_2038", 4_000_000_000L, 123_456_789);
  }

  private void specials() {
    mkdir("special");
    mknod("special/fifo", Posix.S_IFIFO, 0);
    mknod("special/socket", Posix.S_IFSOCK, 0);
    mknod("special/null", Posix.S_IFCHR, (1 << 8) | 3);
    mknod("special/loop", Posix.S_IFBLK, (7 << 8) | 200);
    mknod("special/big_minor", Posix.S_IFCHR, (200 << 8) | 0x34 | (0x12 << 20));
  }

  private void xattrs() {
    mkdir("xattrs");
    write(RawPath.of("xattrs/file"), 0, 100);
    for (String name : List.of("xattrs/file", "xattrs")) {
      setXattr(name, "user.comment", "a dog".getBytes(UTF_8));
      setXattr(name, "user.binary", new byte[] {0, 1, (byte) 0xff, 0});
      setXattr(name, "user.empty", new byte[0]);
      setXattr(name, "trusted.holdfast_test", new byte[] {'t'});
      setXattr(name, "security.holdfast_test", new byte[] {'s'});
    }
    setXattr("xattrs/file", "user.large", new byte[3000]);
    symlink("file", "xattrs/link");
    setXattr("xattrs/link", "trusted.of_a_link", new byte[] {'l'});
  }

  private void deep() {
    StringBuilder path = new StringBuilder(DEEP);
    mkdir(DEEP);
    for (int level = 1; level < DEPTH; level++) {
      path.append("/level_").append(level);
      mkdir(path.toString());
    }
    write(RawPath.of(path + "/bottom"), 0, 10_000);
  }

  private void crowd() {
    mkdir(CROWD);
    for (int i = 0; i < CROWD_SIZE; i++) {
      Posix.create(at(crowdName(i)));
    }
  }

  static String crowdName(int i) {
    return "%s/sample_%06d.txt".formatted(CROWD, i);
  }

  private void sparse() {
    RawPath holes = RawPath.of("sparse.bin");
    write(holes, 0, 5000);
    write(holes, 5 << 20, 5000);
    RawPath path = at("sparse.bin");
    Posix.must("truncate", path, () -> LIBC.truncate(path.cString(), 10 << 20));
    for (long offset : BIG_PARTS) {
      write(RawPath.of(BIG), offset, BIG_PART);
    }
  }

  private RawPath at(String name) {
    return root.child(name);
  }

  private RawPath at(RawPath name) {
    return root.child(name);
  }

  private void write(RawPath name, long offset, int length) {
    RawPath path = at(name);
    Posix.write(path, offset, Stamps.bytes(STAMP, 1, offset, length));
  }

  private void mkdir(String name) {
    Posix.must("mkdir", at(name), () -> LIBC.mkdir(at(name).cString(), 0755));
  }

  private void symlink(String target, String name) {
    Posix.must(
        "symlink", at(name), () -> LIBC.symlink(RawPath.of(target).cString(), at(name).cString()));
  }

  private void chmod(String name, int mode) {
    Posix.must("chmod", at(name), () -> LIBC.chmod(at(name).cString(), mode));
  }

  private void chown(String name, int owner, int group) {
    Posix.must("chown", at(name), () -> LIBC.lchown(at(name).cString(), owner, group));
  }

  private void mknod(String name, int type, long device) {
    Posix.must("mknod", at(name), () -> LIBC.mknod(at(name).cString(), type | 0644, device));
  }

  private void time(String name, long seconds, long nanos) {
    write(RawPath.of(name), 0, 10);
    ByteBuffer times = ByteBuffer.allocate(32).order(ByteOrder.nativeOrder());
    times.putLong(seconds).putLong(nanos).putLong(seconds).putLong(nanos);
    Posix.must(
        "utimens",
        at(name),
        () -> LIBC.utimensat(Posix.AT_FDCWD, at(name).cString(), times.array(), 0));
  }

  /** User attributes must be possible; of the other kinds what the file system takes. */
  private void setXattr(String name, String attribute, byte[] value) {
    long result =
        Posix.call(
            () ->
                LIBC.lsetxattr(
                    at(name).cString(),
                    RawPath.of(attribute).cString(),
                    value,
                    (long) value.length,
                    0));
    if (result < 0 && attribute.startsWith("user.")) {
      throw new AssertionError("setxattr " + attribute + ": " + Posix.errorName(result));
    }
  }
}
