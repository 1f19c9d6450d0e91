package io.holdfast.fs.mount;

import static io.holdfast.fs.Failures.assertFails;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.linux.GrowingMemory;
import io.holdfast.fs.linux.Procfs;
import io.holdfast.fs.origin.Acl;
import io.holdfast.fs.origin.Attributes;
import io.holdfast.fs.origin.DelegatingOrigin;
import io.holdfast.fs.origin.FakeOrigin;
import io.holdfast.fs.origin.OriginPath;
import io.holdfast.fs.tree.Moment;
import io.holdfast.fs.tree.Node;
import io.holdfast.fs.tree.NodeTable;
import io.holdfast.fs.tree.Tree;
import io.holdfast.fs.tree.TreeImage;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** By what the kernel decides: modes and lists that go together. */
final class RightsTest {
  private static final byte[] FILE = bytes("file");
  private static final byte[] ACCESS = bytes("system.posix_acl_access");
  private static final byte[] DEFAULT = bytes("system.posix_acl_default");
  private static final byte[] VALUE = bytes("what the store has");

  /** Version 2; owner 6, group 4, others 0, each without an id. */
  private static final byte[] MINIMAL = {
    2, 0, 0, 0, 1, 0, 6, 0, -1, -1, -1, -1, 4, 0, 4, 0, -1, -1, -1, -1, 0x20, 0, 0, 0, -1, -1, -1,
    -1
  };

  /** Version 2; user 1001, group and others, of whom only the user has a right: 1. */
  private static final byte[] NAMED = {
    2, 0, 0, 0, 2, 0, 1, 0, -23, 3, 0, 0, 4, 0, 0, 0, -1, -1, -1, -1, 0x20, 0, 0, 0, -1, -1, -1, -1
  };

  @TempDir private Path procfs;

  private final FakeOrigin store = new FakeOrigin();
  private final List<Long> changed = new ArrayList<>();
  private int acl = Acl.posix(0640);
  private int mode = Attributes.REGULAR | 0664;
  private @Nullable FsError failure;
  private NodeTable nodes;
  private Tree tree;
  private MetadataCache metadata;
  private final Openings openings = new Openings();
  private Rights rights;

  private final DelegatingOrigin origin =
      new DelegatingOrigin(store) {
        @Override
        public Attributes stat(OriginPath path) throws FsException {
          return wanted(super.stat(path));
        }

        @Override
        public Found find(
            OriginPath directory, byte[] name, List<Attributes> way, @Nullable Attributes known)
            throws FsException {
          Found found = super.find(directory, name, way, known);
          return new Found(wanted(found.entry()), found.way());
        }

        private Attributes wanted(Attributes stat) {
          return stat.isRegular() ? stat.withMode(mode).withAcl(acl) : stat;
        }

        @Override
        public byte[] extendedAttribute(OriginPath path, Attributes known, byte[] name)
            throws FsException {
          if (failure != null) {
            throw new FsException(failure, "as the test wants it");
          }
          return super.extendedAttribute(path, known, name);
        }
      };

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  @BeforeEach
  void create() throws FsException {
    store.file("file", new byte[1]);
    store.attribute(FILE, "system.posix_acl_access", VALUE);
    nodes = new NodeTable(GrowingMemory.ofProcess("nodes"));
    tree = new Tree(origin, nodes, old -> {});
    metadata = new MetadataCache(tree, false, Duration.ofHours(1), System::nanoTime);
    rights = new Rights(origin, metadata, openings, new Procfs(procfs), changed::add);
  }

  @AfterEach
  void free() {
    nodes.close();
  }

  private Node file() throws FsException {
    return tree.lookup(tree.root(), FILE);
  }

  private int shown() throws FsException {
    return rights.shown(file()).mode() & 0777;
  }

  @Test
  void mode_kernelDoesNotDecide_isStrict() throws FsException {
    assertThat(rights.decidesBy(ACCESS)).isFalse();
    assertThat(shown()).isEqualTo(0640);
    acl = Acl.NONE;
    assertThat(shown()).isEqualTo(0664);
  }

  @Test
  void mode_kernelDecides_isStrictOnlyWhereItWouldNotUnderstandTheList() throws FsException {
    rights.kernelDecides();
    assertThat(rights.decidesBy(ACCESS)).isTrue();
    assertThat(rights.decidesBy(DEFAULT)).isTrue();
    assertThat(rights.decidesBy(bytes("user.any"))).isFalse();
    assertThat(shown()).isEqualTo(0664);
    acl = Acl.foreign(0600);
    assertThat(shown()).isEqualTo(0600);
    assertFails(() -> rights.value(file(), ACCESS), FsError.NO_ATTRIBUTE);
  }

  @Test
  void list_ofAnEntryThatIsAsItWasShown_isThatOfTheStore() throws FsException {
    assertThat(rights.value(file(), ACCESS)).isEqualTo(VALUE);
    assertThat(changed).isEmpty();
  }

  @Test
  void list_ofAnEntryThatHasChangedSince_goesWithTheModeThatWasShown() throws FsException {
    Node file = file();
    mode = Attributes.REGULAR | 0666;
    assertThat(rights.value(file, ACCESS)).isEqualTo(MINIMAL);
    assertThat(changed).containsExactly(file.id());
  }

  /** The mode that was shown has the mask in the place of the group's rights. */
  @Test
  void list_thatHasGoneSince_isNotTakenForNone() throws FsException {
    for (FsError gone : List.of(FsError.NO_ATTRIBUTE, FsError.UNSUPPORTED, FsError.NOT_FOUND)) {
      failure = gone;
      assertThat(rights.value(file(), ACCESS)).isEqualTo(MINIMAL);
    }
  }

  /** An error is asked about again; a list would be believed for the whole ttl. */
  @Test
  void list_originSilent_isAnErrorUntilWhatIsKnownStandsForIt() throws FsException {
    Node file = file();
    failure = FsError.ORIGIN_SILENT;
    assertFails(() -> rights.value(file, ACCESS), FsError.ORIGIN_SILENT);
    metadata.fallBack(new FsException(FsError.ORIGIN_SILENT, "no answer"));
    assertThat(rights.value(file, ACCESS)).isEqualTo(MINIMAL);
  }

  @Test
  void letPass_byTheListOnlyIfTheKernelDecidesByIt() throws FsException, IOException {
    Path status = procfs.resolve("proc/12/status");
    Files.createDirectories(status.getParent());
    Files.writeString(status, "Groups:\t\nCapEff:\t0\n");
    store.attribute(FILE, "system.posix_acl_access", NAMED);
    mode = Attributes.REGULAR | 0771;
    acl = Acl.posix(0700);
    Asker named = new Asker(1001, 1, 12);
    Asker another = new Asker(1002, 1, 12);
    assertThat(rights.letPass(file(), named)).isFalse();
    assertThat(rights.letPass(file(), another)).isFalse();

    rights.kernelDecides();
    assertThat(rights.letPass(file(), named)).isTrue();
    assertThat(rights.letPass(file(), another)).isFalse();

    failure = FsError.IO;
    assertThat(rights.letPass(file(), named)).as("nobody knows").isFalse();
    acl = Acl.NONE;
    assertThat(rights.letPass(file(), another)).as("by the mode").isTrue();
  }

  /**
   * The kernel asks for the ACL of each file: a file without one must not cost a call of the store.
   */
  @Test
  void list_ofAnEntryWithoutOne_isNoneWithoutAsking() throws FsException {
    acl = Acl.NONE;
    failure = FsError.IO;
    assertFails(() -> rights.value(file(), ACCESS), FsError.NO_ATTRIBUTE);
  }

  /** The next mount is to know before it agrees on anything with the kernel. */
  @Test
  void tree_thatHasSeenAList_saysSoOnceItIsLoadedAgain(@TempDir Path temp) throws Exception {
    assertThat(tree.hasAcls()).isFalse();
    assertThat(file().attributes().acl()).isEqualTo(acl);
    assertThat(tree.hasAcls()).isTrue();
    Path image = temp.resolve("tree");
    tree.write(image, "dataset", Moment.now());
    NodeTable others = new NodeTable(GrowingMemory.ofProcess("nodes"));
    try (TreeImage written = TreeImage.open(image, "dataset")) {
      Tree next = new Tree(store, others, old -> {});
      next.loaded(written, Moment.now());
      assertThat(next.hasAcls()).isTrue();
    } finally {
      others.close();
    }
  }

  /** The kernel takes "not supported" for a failure of its decision. */
  @Test
  void defaultList_ofAStoreWithout_isNone() throws FsException {
    failure = FsError.UNSUPPORTED;
    assertFails(() -> rights.value(file(), DEFAULT), FsError.NO_ATTRIBUTE);
  }
}
