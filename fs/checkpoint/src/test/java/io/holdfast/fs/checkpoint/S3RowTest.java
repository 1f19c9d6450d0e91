package io.holdfast.fs.checkpoint;

import static io.holdfast.fs.linux.Libc.LIBC;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.fs.checkpoint.S3Index.File;
import io.holdfast.fs.checkpoint.S3Index.Name;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import jnr.constants.platform.Errno;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The room that a row takes, and the changes that it refuses. */
class S3RowTest {
  private static final int LENGTH = 1000;

  @TempDir Path directory;

  private final long memory = LIBC.malloc(LENGTH);
  private final List<String> fetched = new ArrayList<>();
  private FileTree files;
  private S3Row row;

  private static Name name(long id, int mode, long size) {
    return new Name(id, new File(mode, 0, 0, 0, size, 0, 0, "", new TreeMap<>()), "", "");
  }

  @BeforeEach
  void begin() throws Exception {
    TreeMap<String, Name> names = new TreeMap<>();
    names.put("", name(1, Stat.DIRECTORY | 0755, 0));
    names.put("huge", name(2, Stat.REGULAR | 0600, 8L << 40));
    names.put("large", name(3, Stat.REGULAR | 0600, 9000));
    names.put("small", name(4, Stat.REGULAR | 0600, 4000));
    names.put("tmp", name(5, Stat.DIRECTORY | 0755, 0));
    names.put("d", name(6, Stat.DIRECTORY | 0755, 0));
    names.put("d/x", name(7, Stat.REGULAR | 0600, 0));
    files = FileTree.open(directory);
    row = new S3Row(new S3Index(1, 1, names, List.of()), files, (path, n, f) -> fetched.add(path));
  }

  @AfterEach
  void end() {
    row.close();
    files.close();
    LIBC.free(memory);
  }

  private void write(String path) throws Exception {
    row.write(new Operation.Write(path, 1, 0, LENGTH, 0), memory, 1, 1);
  }

  /** As a failure of the download, it ended no row, and came again for ever. */
  @Test
  void objectForWhichTheDiskHasNoRoom_isNotFetched() {
    assertThatThrownBy(() -> write("huge"))
        .isInstanceOfSatisfying(ErrnoException.class, e -> assertThat(e.is(Errno.ENOSPC)).isTrue());
    assertThat(fetched).isEmpty();
  }

  /** The row had names without a directory: nobody could mount the store any more. */
  @Test
  void directoryThatHasNames_isNeitherRemovedNorReplaced() {
    for (Operation each :
        List.of(new Operation.Remove("d", true), new Operation.Rename("tmp", "d", 0))) {
      assertThatThrownBy(() -> row.apply(each, 1, 1))
          .isInstanceOfSatisfying(
              ErrnoException.class, e -> assertThat(e.is(Errno.ENOTEMPTY)).isTrue());
    }
    assertThat(row.names()).containsKeys("tmp", "d", "d/x");
  }

  @Test
  void objectsThatAreFetched_count_exceptTheLargest() throws Exception {
    write("large");
    write("large");
    assertThat(row.fetched()).isZero();
    write("small");
    assertThat(fetched).containsExactly("large", "small");
    assertThat(row.fetched()).isEqualTo(4000);
  }
}
