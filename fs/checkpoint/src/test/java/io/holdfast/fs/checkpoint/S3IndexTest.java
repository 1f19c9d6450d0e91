package io.holdfast.fs.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.holdfast.fs.checkpoint.S3Index.File;
import io.holdfast.fs.checkpoint.S3Index.Name;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The object that says what a store in S3 has. */
class S3IndexTest {
  private static final File DIRECTORY = file(Stat.DIRECTORY | 0755, 0, "");

  /** Buckets have indexes of this version already: another format needs another magic. */
  private static final String GOLDEN =
      "6866696e646578311059936e1f8b08000000000000ff63600003c1ff10f01dc8666640004604d3f1"
          + "2d94cf0415405607022c509a15492f5b69716a915e0588f71f442422e965492d494c87701b976037"
          + "9bf90509662721e9650399ad6b046419e965e4e7a4a4251697e82667a4266717e467e695e817e597"
          + "eb1aa002437d180b6a3e4b7a7e5e2a00b7d8cfbe20010000";

  private static File file(int mode, long size, String target) {
    return new File(mode, 1, 2, 3, size, 4, 5, target, new TreeMap<>(Map.of("user.x", "\u00ff")));
  }

  private static S3Index index(String path) {
    TreeMap<String, Name> names = new TreeMap<>();
    File regular = file(Stat.REGULAR | 0644, 1000, "");
    names.put("", new Name(1, DIRECTORY, "", ""));
    names.put("d", new Name(2, DIRECTORY, "", ""));
    names.put("d/a", new Name(3, regular, "etag", ""));
    names.put("other", new Name(3, regular, "etag-2", ".holdfast-checkpoint/row-1/0"));
    names.put("zz", new Name(4, file(Stat.SYMLINK | 0777, 3, "d/a"), "", ""));
    names.put(path, new Name(5, regular, "etag", ""));
    return new S3Index(17, -9, names, List.of("gone/x"));
  }

  @Test
  void index_comesBack() throws Exception {
    S3Index index = index("d/a\u00ff\n");

    S3Index back = S3Index.decode(index.encode());

    assertThat(back.names()).isEqualTo(index.names());
    assertThat(back.stamp()).isEqualTo(17);
    assertThat(back.row()).isEqualTo(-9);
    assertThat(back.garbage()).containsExactly("gone/x");
    assertThat(back.stat("d/a").links()).isEqualTo(2);
    assertThat(back.list("")).extracting(FileTree.Entry::name).containsExactly("d", "other", "zz");
  }

  @Test
  void indexOfThisVersion_isReadForEver() throws Exception {
    S3Index index = S3Index.decode(HexFormat.of().parseHex(GOLDEN));

    File regular = file(Stat.REGULAR | 0644, 1000, "");
    assertThat(index.stamp()).isEqualTo(17);
    assertThat(index.row()).isEqualTo(-9);
    assertThat(index.names())
        .isEqualTo(
            Map.of(
                "",
                new Name(1, DIRECTORY, "", ""),
                "a",
                new Name(3, regular, "etag", ""),
                "b",
                new Name(3, regular, "etag-2", S3Keys.staged(1, 0))));
    assertThat(index.garbage()).containsExactly("gone");
    byte[] other = HexFormat.of().parseHex(GOLDEN);
    other[7]++;
    assertThatThrownBy(() -> S3Index.decode(other)).hasMessageContaining("version is wrong");
  }

  @Test
  void anyByteThatIsAnother_isFound() {
    byte[] bytes = index("d/b").encode();
    for (int i = 0; i < bytes.length; i++) {
      byte[] damaged = bytes.clone();
      damaged[i] ^= 4;
      assertThatThrownBy(() -> S3Index.decode(damaged))
          .as("byte %d", i)
          .isInstanceOf(ErrnoException.class)
          .hasMessageContaining("is damaged");
    }
    assertThatThrownBy(() -> S3Index.decode(new byte[0])).isInstanceOf(ErrnoException.class);
  }

  private static ErrnoException refused(String path, Name name, List<String> garbage) {
    TreeMap<String, Name> names = new TreeMap<>();
    names.put("", new Name(1, DIRECTORY, "", ""));
    names.put(path, name);
    byte[] bytes = new S3Index(1, 1, names, garbage).encode();
    return catchThrowableOfType(ErrnoException.class, () -> S3Index.decode(bytes));
  }

  /** Its keys, ids and names lead to nothing but files of the store. */
  @Test
  void indexThatNamesOtherObjects_isRefused() {
    File regular = file(Stat.REGULAR | 0644, 1000, "");
    Name good = new Name(2, regular, "etag", "");
    assertThat(refused("a", good, List.of("gone"))).isNull();
    assertThat(refused("a", new Name(0, regular, "etag", ""), List.of())).isNotNull();
    assertThat(refused("a", new Name(Long.MAX_VALUE, regular, "etag", ""), List.of())).isNotNull();
    assertThat(refused("a", new Name(2, regular, "etag", "b"), List.of())).isNotNull();
    assertThat(refused(Store.OWNER, good, List.of())).isNotNull();
    assertThat(refused("a", good, List.of(S3Keys.INDEX))).isNotNull();
  }

  /** A writer of the bucket cannot lead the front elsewhere. */
  @ParameterizedTest
  @ValueSource(strings = {"..", "d/..", "d/.", "d//x", "/x", "missing/x", "other/x", "d/\0x"})
  void pathThatIsNone_isRefused(String path) {
    assertThatThrownBy(() -> S3Index.decode(index(path).encode()))
        .isInstanceOf(ErrnoException.class)
        .hasMessageContaining("a name in it is none");
  }
}
