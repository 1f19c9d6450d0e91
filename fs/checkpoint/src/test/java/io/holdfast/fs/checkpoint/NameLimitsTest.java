package io.holdfast.fs.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.BiPredicate;
import java.util.stream.Stream;
import jnr.constants.platform.Errno;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class NameLimitsTest {
  private static final int PIPE = 0010000;
  private static final int DEVICE = 0020000;

  /** A file system that refuses some files, and perhaps knows no large letters. */
  private static final class Refusing implements NameLimits.Place {
    private final Set<String> files = new HashSet<>();
    private final BiPredicate<String, Integer> refuses;
    private final boolean cases;
    private final Errno answer;

    Refusing(BiPredicate<String, Integer> refuses, boolean cases, Errno answer) {
      this.refuses = refuses;
      this.cases = cases;
      this.answer = answer;
    }

    @Override
    public void tryOut(String name, int mode, long device) throws ErrnoException {
      if (refuses.test(name, mode & Stat.TYPE)) {
        throw ErrnoException.of(answer, name);
      }
      assertThat(files.add(name)).isTrue();
      files.remove(name);
    }

    @Override
    public boolean isFound(String name, String other) {
      return !cases && name.equalsIgnoreCase(other);
    }
  }

  private static NameLimits find(BiPredicate<String, Integer> refuses, boolean cases) {
    return NameLimits.find(255, "probe", new Refusing(refuses, cases, Errno.EINVAL));
  }

  private static boolean is(Throwable failure, Errno errno) {
    return failure instanceof ErrnoException e && e.is(errno);
  }

  @Test
  void storeThatTakesAll_hasNoLimits() throws Exception {
    NameLimits limits = find((name, type) -> false, true);

    assertThat(limits).isEqualTo(NameLimits.OF_LINUX);
    limits.requireName("d/\u00ff:?");
    limits.requireType(PIPE | 0600, "p");
  }

  @Test
  void namesThatTheStoreRefuses_areRefused() throws Exception {
    NameLimits utf8 = find((name, type) -> name.contains("\u00ff"), true);
    utf8.requireName("d/\u00c3\u00a4");
    assertThatThrownBy(() -> utf8.requireName("d/a\u00ff")).matches(e -> is(e, Errno.EILSEQ));

    NameLimits windows = find((name, type) -> name.contains(":"), true);
    windows.requireName("d/\u00ff");
    assertThatThrownBy(() -> windows.requireName("d/a?")).matches(e -> is(e, Errno.EINVAL));

    NameLimits crypt =
        NameLimits.find(143, "probe", new Refusing((n, t) -> false, true, Errno.EIO));
    crypt.requireName("d/" + "x".repeat(143));
    assertThatThrownBy(() -> crypt.requireName("d/" + "x".repeat(144)))
        .matches(e -> is(e, Errno.ENAMETOOLONG));
  }

  @Test
  void nameThatTheStoreTakesForAnother_isRefused() throws Exception {
    NameLimits limits = find((name, type) -> false, false);
    List<FileTree.Entry> entries =
        Stream.of("Step", "\u00c3\u0084") // an umlaut
            .map(name -> new FileTree.Entry(name, Stat.REGULAR, 1))
            .toList();

    limits.requireOther("d/Step", entries);
    limits.requireOther("d/Steps", entries);
    assertThatThrownBy(() -> limits.requireOther("d/STEP", entries))
        .matches(e -> is(e, Errno.EEXIST));
    assertThatThrownBy(() -> limits.requireOther("d/\u00c3\u00a4", entries))
        .matches(e -> is(e, Errno.EEXIST));
  }

  @Test
  void kindsOfFilesThatTheStoreRefuses_areRefused() throws Exception {
    NameLimits limits = find((name, type) -> type == PIPE || type == Stat.SYMLINK, true);

    limits.requireType(DEVICE | 0600, "d");
    limits.requireType(Stat.REGULAR | 0600, "f");
    limits.requireType(Stat.DIRECTORY | 0700, "d");
    for (int type : new int[] {PIPE, Stat.SYMLINK}) {
      assertThatThrownBy(() -> limits.requireType(type | 0600, "p"))
          .matches(e -> is(e, Errno.EOPNOTSUPP));
    }
  }

  /** It may take everything later. */
  @ParameterizedTest
  @EnumSource(
      value = Errno.class,
      names = {"ENOSPC", "EDQUOT", "EIO"})
  void storeThatFailsForAnotherReason_hasNoLimits(Errno answer) {
    assertThat(NameLimits.find(255, "probe", new Refusing((n, t) -> true, true, answer)))
        .isEqualTo(NameLimits.OF_LINUX);
  }
}
