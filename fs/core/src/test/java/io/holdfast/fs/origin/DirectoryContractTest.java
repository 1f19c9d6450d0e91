package io.holdfast.fs.origin;

import static io.holdfast.fs.Failures.assertFails;
import static io.holdfast.fs.origin.OriginStore.bytes;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.Await;
import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The contract of an origin whose store has directories: with symlinks, names of any bytes, special
 * files, extended attributes, and files that change in place.
 */
abstract class DirectoryContractTest extends OriginContractTest {
  /** A name that is no UTF-8. */
  private static final byte[] RAW_NAME = {'b', (byte) 0xff, (byte) 0xfe, '\n', (byte) 0x80};

  @Override
  abstract DirectoryStore createStore() throws IOException;

  @Override
  final DirectoryStore store() {
    return (DirectoryStore) super.store();
  }

  @Override
  final boolean hasRawNames() {
    return true;
  }

  @Test
  void missingEntry_extendedAttributes_failNotFound() {
    OriginPath path = OriginPath.of("no/such");
    assertFails(() -> origin().extendedAttribute(path, root(), bytes("user.a")), FsError.NOT_FOUND);
    assertFails(() -> origin().extendedAttributeNames(path, root()), FsError.NOT_FOUND);
  }

  @Test
  void list_symlink_hasItsOwn() throws IOException {
    store().symlink(bytes("dir/link"), bytes("nowhere"));
    Map<String, Attributes> attributes = new HashMap<>();
    origin()
        .list(OriginPath.of("dir"), (name, type, inode, told) -> attributes.put(text(name), told));
    assertThat(attributes).containsOnlyKeys("link");
    assertThat(attributes.get("link").isSymlink()).isTrue();
    assertThat(attributes.get("link")).isEqualTo(origin().stat(OriginPath.of("dir/link")));
  }

  @Test
  void pathBelowAFile_everyCall_failsNotDirectory() throws IOException {
    store().file(bytes("file"), new byte[1]);
    OriginPath path = OriginPath.of("file/below");
    assertFails(() -> origin().stat(path), FsError.NOT_DIRECTORY);
    assertFails(() -> open(origin(), path), FsError.NOT_DIRECTORY);
    assertFails(
        () -> origin().list(OriginPath.of("file"), OriginContractTest::ignore),
        FsError.NOT_DIRECTORY);
  }

  // symlinks and escapes

  @Test
  void symlink_stat_isOfItself() throws IOException {
    store().file(bytes("target"), new byte[100]);
    store().symlink(bytes("link"), bytes("target"));
    Attributes attributes = origin().stat(OriginPath.of("link"));
    assertThat(attributes.isSymlink()).isTrue();
    assertThat(attributes.size()).isEqualTo("target".length());
  }

  @ParameterizedTest
  @ValueSource(strings = {"target", "/etc/passwd", "../../up", "missing", "a very long target "})
  void symlink_readLink_givesTheTargetAsItIs(String text) throws IOException {
    String target = text.endsWith(" ") ? text.repeat(190) : text;
    store().symlink(bytes("dir/link"), bytes(target));
    OriginPath link = OriginPath.of("dir/link");
    assertThat(origin().readLink(link, origin().stat(link))).isEqualTo(bytes(target));
  }

  @ParameterizedTest
  @ValueSource(strings = {"file", "/etc/hostname", "../outside", "self"})
  void symlink_asLastName_isNotFollowed(String target) throws IOException {
    store().file(bytes("file"), new byte[1]);
    store().symlink(bytes("self"), bytes(target));
    assertFails(() -> open(origin(), OriginPath.of("self")), FsError.SYMLINK);
    assertFails(
        () -> origin().list(OriginPath.of("self"), OriginContractTest::ignore),
        FsError.SYMLINK,
        FsError.NOT_DIRECTORY);
  }

  @ParameterizedTest
  @ValueSource(strings = {"dir", "/etc", "../..", ".", "way"})
  void symlink_onTheWay_isNotFollowed(String target) throws IOException {
    store().file(bytes("dir/passwd"), new byte[1]);
    store().symlink(bytes("way"), bytes(target));
    OriginPath path = OriginPath.of("way/passwd");
    assertFails(() -> origin().stat(path), FsError.SYMLINK);
    assertFails(() -> open(origin(), path), FsError.SYMLINK);
    assertFails(() -> origin().list(path, OriginContractTest::ignore), FsError.SYMLINK);
    assertFails(() -> origin().readLink(path, root()), FsError.SYMLINK);
    assertFails(() -> origin().extendedAttributeNames(path, root()), FsError.SYMLINK);
  }

  // names

  @Test
  void rawName_everyCall_isTakenAsItIs() throws IOException {
    byte[] path = OriginPath.of("d").child(RAW_NAME).bytes();
    store().file(path, bytes("content"));
    assertThat(origin().stat(OriginPath.of(path)).size()).isEqualTo(7);
    try (OriginFile file = open(origin(), OriginPath.of(path))) {
      assertThat(read(file, 0, 7)).isEqualTo(bytes("content"));
    }
    List<byte[]> names = new ArrayList<>();
    origin().list(OriginPath.of("d"), (name, type, inode, attributes) -> names.add(name));
    assertThat(names).singleElement().isEqualTo(RAW_NAME);
  }

  @Test
  void rawTarget_readLink_isGivenAsItIs() throws IOException {
    store().symlink(bytes("link"), RAW_NAME);
    OriginPath link = OriginPath.of("link");
    assertThat(origin().readLink(link, origin().stat(link))).isEqualTo(RAW_NAME);
  }

  @Test
  void path_longerThanPathMax_isReached() throws IOException {
    String directory = "d".repeat(200);
    String above = (directory + "/").repeat(60);
    store().file(bytes(above + "file"), bytes("deep"));
    assertThat(above.length()).isGreaterThan(2 * 4096);
    assertThat(origin().stat(OriginPath.of(above + "file")).size()).isEqualTo(4);
    try (OriginFile file = open(origin(), OriginPath.of(above + "file"))) {
      assertThat(read(file, 1, 10)).isEqualTo(bytes("eep"));
    }
    List<byte[]> names = new ArrayList<>();
    String last = above.substring(0, above.length() - 1);
    origin().list(OriginPath.of(last), (name, type, inode, attributes) -> names.add(name));
    assertThat(names).singleElement().isEqualTo(bytes("file"));
    assertFails(() -> origin().stat(OriginPath.of(above + "none")), FsError.NOT_FOUND);
    assertFails(() -> origin().stat(OriginPath.of("x" + above + "file")), FsError.NOT_FOUND);
  }

  /** Wherever the path is cut into pieces that the kernel takes. */
  @Test
  void path_ofEveryLengthAroundPathMax_isReached() throws IOException {
    String above = ("d".repeat(99) + "/").repeat(40);
    store().file(bytes(above + "f"), new byte[1]);
    for (int length = 4090 - above.length(); length <= 4100 - above.length(); length++) {
      String path = above + "f".repeat(length);
      store().file(bytes(path), new byte[length]);
      assertThat(origin().stat(OriginPath.of(path)).size()).isEqualTo(length);
    }
  }

  @Test
  void symlink_behindPathMax_isNotFollowed() throws IOException {
    String above = ("d".repeat(200) + "/").repeat(30);
    store().file(bytes(above + "dir/file"), new byte[1]);
    store().symlink(bytes(above + "link"), bytes("dir"));
    assertFails(() -> origin().stat(OriginPath.of(above + "link/file")), FsError.SYMLINK);
  }

  @Test
  void version_fileAppendedTo_isAnother() throws IOException {
    store().file(bytes("file"), bytes("old"));
    try (OriginFile file = open(origin(), OriginPath.of("file"))) {
      Version before = file.version();
      store().append(bytes("file"), bytes("more"));
      assertThat(file.version()).isNotEqualTo(before);
      assertThat(file.version()).isEqualTo(origin().stat(OriginPath.of("file")).version());
    }
  }

  @Test
  void version_fileWrittenInPlace_isAnother() throws IOException {
    store().file(bytes("file"), bytes("old"));
    try (OriginFile file = open(origin(), OriginPath.of("file"))) {
      Version before = file.version();
      store().overwrite(bytes("file"), bytes("new"));
      assertThat(file.version()).isNotEqualTo(before);
      assertThat(read(file, 0, 3)).isEqualTo(bytes("new"));
    }
  }

  // what else a name may lead to

  @Test
  void fifo_inPlaceOfAFile_doesNotHang() throws IOException {
    store().fifo(bytes("fifo"));
    assertThat(origin().stat(OriginPath.of("fifo")).isRegular()).isFalse();
    Assertions.assertTimeoutPreemptively(
        Await.LONGEST,
        () ->
            assertFails(
                () -> {
                  try (OriginFile file = open(origin(), OriginPath.of("fifo"))) {
                    file.version();
                  }
                },
                FsError.STALE,
                FsError.UNSUPPORTED));
  }

  // extended attributes

  @Test
  void attribute_thatIsThere_isGivenWhole() throws IOException {
    byte[] value = new byte[3000];
    new Random(1).nextBytes(value);
    store().file(bytes("file"), new byte[1]);
    store().attribute(bytes("file"), "user.label", value);
    store().attribute(bytes("file"), "user.empty", new byte[0]);
    OriginPath path = OriginPath.of("file");
    Attributes file = origin().stat(path);
    assertThat(origin().extendedAttribute(path, file, bytes("user.label"))).isEqualTo(value);
    assertThat(origin().extendedAttribute(path, file, bytes("user.empty"))).isEmpty();
    assertThat(text(origin().extendedAttributeNames(path, file)).split("\0", -1))
        .contains("user.label", "user.empty", "");
  }

  @Test
  void attribute_thatIsNot_failsNoAttribute() throws IOException {
    store().file(bytes("file"), new byte[1]);
    OriginPath path = OriginPath.of("file");
    Attributes file = origin().stat(path);
    assertFails(
        () -> origin().extendedAttribute(path, file, bytes("user.none")), FsError.NO_ATTRIBUTE);
  }

  /** A user who may read them of one entry must not get those of another. */
  @Test
  void attributesAndTarget_ofAnEntryThatTookThePath_areStale() throws IOException {
    store().file(bytes("file"), new byte[1]);
    store().symlink(bytes("link"), bytes("target"));
    Attributes file = origin().stat(OriginPath.of("file"));
    Attributes link = origin().stat(OriginPath.of("link"));
    store().file(bytes("file"), new byte[1]);
    store().attribute(bytes("file"), "user.label", new byte[3]);
    store().remove(bytes("link"));
    store().symlink(bytes("link"), bytes("another"));

    OriginPath path = OriginPath.of("file");
    assertFails(() -> origin().extendedAttribute(path, file, bytes("user.label")), FsError.STALE);
    assertFails(() -> origin().extendedAttributeNames(path, file), FsError.STALE);
    assertFails(() -> origin().readLink(OriginPath.of("link"), link), FsError.STALE);
  }

  @Test
  void list_anyDirectory_tellsWhatLedThereBeforeItsEntries() throws IOException {
    store().file(bytes("a/b/file"), new byte[1]);
    List<Long> inodes =
        List.of(
            origin().stat(OriginPath.of("a/b")).inode(),
            origin().stat(OriginPath.of("a")).inode(),
            root().inode());
    List<Object> told = new ArrayList<>();
    origin()
        .list(
            OriginPath.of("a/b"),
            new Origin.EntrySink() {
              @Override
              public void entry(
                  byte[] name, int type, long inode, @Nullable Attributes attributes) {
                told.add(text(name));
              }

              @Override
              public void way(List<Attributes> passed) {
                told.add(passed.stream().map(Attributes::inode).toList());
              }
            });
    assertThat(told).containsExactly(inodes, "file");
  }

  private Attributes root() throws FsException {
    return origin().stat(OriginPath.ROOT);
  }

  private static String text(byte[] bytes) {
    return new String(bytes, StandardCharsets.UTF_8);
  }
}
