package io.holdfast.fs.mount;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.FsException;
import io.holdfast.fs.linux.GrowingMemory;
import io.holdfast.fs.origin.Acl;
import io.holdfast.fs.origin.Attributes;
import io.holdfast.fs.origin.DelegatingOrigin;
import io.holdfast.fs.origin.FakeOrigin;
import io.holdfast.fs.origin.OriginPath;
import io.holdfast.fs.tree.Node;
import io.holdfast.fs.tree.NodeTable;
import io.holdfast.fs.tree.Tree;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Directories that are opened give nobody more than they did before, nor more than they do now. */
final class OpeningsTest {
  private static final int IDS = 3;

  private final Openings openings = new Openings();
  private Attributes before = rights(0750, 1, 1);
  private NodeTable nodes;

  @BeforeEach
  void create() throws FsException {
    nodes = new NodeTable(GrowingMemory.ofProcess("nodes"));
  }

  @AfterEach
  void free() {
    nodes.close();
  }

  private static Attributes rights(int mode, int uid, int gid) {
    int both = Attributes.DIRECTORY | mode;
    return new Attributes(both, 1, uid, gid, 0, 1, 0, 0, 0, 0, 0, "");
  }

  /** Returns a directory that is known to have the attributes of before. */
  private Node directory() throws FsException {
    DelegatingOrigin origin =
        new DelegatingOrigin(new FakeOrigin()) {
          @Override
          public Attributes stat(OriginPath path) {
            return before;
          }
        };
    return new Tree(origin, nodes, old -> {}).root();
  }

  /** Returns the rights of a user who is in one group, or in all groups. */
  private static int has(Attributes of, int uid, int gid, boolean inAll) {
    int shift = uid == of.uid() ? 6 : inAll || gid == of.gid() ? 3 : 0;
    return of.mode() >> shift & 7;
  }

  @Test
  void shown_directoryClosed_isAsItIs() throws FsException {
    Node directory = directory();
    Attributes now = rights(0710, 1, 1);
    openings.begin(directory, now);
    assertThat(openings.of(directory.id())).isNull();
    assertThat(openings.shown(directory, now)).isEqualTo(now);
  }

  @Test
  void shown_directoryOpened_isAsBeforeUntilTheEnd() throws FsException {
    Node directory = directory();
    Attributes now = rights(0775, 1, 1);
    openings.begin(directory, now);
    assertThat(openings.shown(directory, now).mode() & 0777).isEqualTo(0750);
    Openings.Opening opening = openings.of(directory.id());
    assertThat(openings.end(directory.id(), opening)).isTrue();
    assertThat(openings.shown(directory, now)).isEqualTo(now);
    assertThat(openings.end(directory.id(), opening)).isFalse();
  }

  /** The second opening covers the entries of the first too. */
  @Test
  void end_ofTheFirstOfTwo_isNone() throws FsException {
    Node directory = directory();
    openings.begin(directory, rights(0757, 1, 1));
    Openings.Opening first = openings.of(directory.id());
    Attributes now = rights(0755, 1, 1);
    openings.begin(directory, now);
    assertThat(openings.end(directory.id(), first)).isFalse();
    assertThat(openings.shown(directory, now).mode() & 0777).isEqualTo(0750);
  }

  @Test
  void shown_ownerChangesWhereAllMayGo_goesOnForAll() throws FsException {
    before = rights(0755, 1, 1);
    Node directory = directory();
    Attributes now = rights(0775, 2, 2);
    openings.begin(directory, now);
    assertThat(openings.shown(directory, now).mode() & 0777).isEqualTo(0555);
  }

  @Test
  void shown_directoryWithAList_isTheStrictReadingOfBoth() throws FsException {
    before = rights(0770, 1, 1).withAcl(Acl.posix(0750));
    Node directory = directory();
    Attributes now = rights(0770, 1, 1).withAcl(Acl.posix(0730));
    openings.begin(directory, now);
    Attributes shown = openings.shown(directory, now);
    assertThat(shown.mode() & 0777).isEqualTo(0710);
    assertThat(Acl.isAny(shown.acl())).isFalse();
  }

  @Test
  void shown_anyChanges_givesNobodyMoreThanEachOfThem() throws FsException {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    for (int i = 0; i < 2000; i++) {
      nodes.close();
      nodes = new NodeTable(GrowingMemory.ofProcess("nodes"));
      before = any(random);
      Node directory = directory();
      Attributes between = any(random);
      Attributes now = any(random);
      openings.begin(directory, between);
      boolean had = openings.of(directory.id()) != null;
      openings.begin(directory, now);
      Attributes shown = openings.shown(directory, now);
      for (int user = 0; user < 2 * IDS * IDS; user++) {
        int uid = user % IDS;
        int gid = user / IDS % IDS;
        boolean inAll = user >= IDS * IDS;
        int most = has(before, uid, gid, inAll) & has(now, uid, gid, inAll);
        most &= had ? has(between, uid, gid, inAll) : 7;
        assertThat(has(shown, uid, gid, inAll) & ~most)
            .as("seed %d: %s, %s, %s", seed, before, between, now)
            .isZero();
      }
      Openings.Opening opening = openings.of(directory.id());
      assertThat(opening == null || openings.end(directory.id(), opening)).isTrue();
    }
  }

  private static Attributes any(Random random) {
    return rights(random.nextInt(01000), random.nextInt(IDS), random.nextInt(IDS));
  }
}
