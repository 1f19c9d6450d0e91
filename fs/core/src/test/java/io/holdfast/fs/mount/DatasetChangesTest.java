package io.holdfast.fs.mount;

import static io.holdfast.fs.Failures.assertFails;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.linux.GrowingMemory;
import io.holdfast.fs.origin.Attributes;
import io.holdfast.fs.origin.FakeOrigin;
import io.holdfast.fs.origin.OriginPath;
import io.holdfast.fs.tree.Node;
import io.holdfast.fs.tree.NodeTable;
import io.holdfast.fs.tree.Tree;
import io.holdfast.fs.tree.Tree.ChangeListener;
import io.holdfast.fs.tree.TreeScan;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongPredicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A change of rights, and the names below a directory. */
final class DatasetChangesTest {
  private static final int PERMISSIONS = 0777;
  private static final Duration TTL = Duration.ofHours(1);

  private final FakeOrigin origin = new FakeOrigin();
  private NodeTable nodes;
  private Tree tree;
  private DatasetChanges changes;
  private MetadataCache metadata;

  /** Tells whether the kernel knows a node. */
  private LongPredicate knows = node -> true;

  /** The directory that somebody uses, so that the kernel does not know what it is told of it. */
  private OptionalLong used = OptionalLong.empty();

  /** Runs what waits for replies. */
  private Executor waiter = Runnable::run;

  /** The calls that the kernel got, in their order. */
  private final List<String> told = new ArrayList<>();

  @BeforeEach
  void create() throws FsException {
    nodes = new NodeTable(GrowingMemory.ofProcess("nodes"));
    tree = new Tree(origin, nodes, new OfRights());
    changes = changes(false);
    metadata = new MetadataCache(tree, true, TTL, System::nanoTime);
  }

  /** An opening needs neither items nor transit nor residents. */
  private DatasetChanges changes(boolean succeeds) {
    return new DatasetChanges(
        new DatasetChanges.Parts(
            tree,
            new TreeScan(origin, tree, command -> new Thread(command).start()),
            null,
            null,
            null,
            new Kernel(),
            TTL,
            succeeds,
            Runnable::run,
            waiter,
            Runnable::run));
  }

  @AfterEach
  void free() {
    nodes.close();
  }

  /** Passes on changes of rights. The tests keep nothing of a file that would be released. */
  private final class OfRights implements ChangeListener {
    @Override
    public void replaced(Node old) {}

    @Override
    public void willHaveOtherRights(Node directory, Attributes fresh) {
      changes.willHaveOtherRights(directory, fresh);
    }

    @Override
    public void otherRights(Node directory) {
      changes.otherRights(directory);
    }
  }

  /** Has replied to everything. */
  private final class Kernel implements KernelView {
    @Override
    public boolean replace(long parent, byte[] name, long node) {
      return true;
    }

    @Override
    public void expire(long parent, byte[] name) {
      told.add("name " + new String(name, UTF_8));
    }

    @Override
    public void expireAttributes(long parent, byte[] name, long node) {}

    @Override
    public boolean mayKnow(long node) {
      return knows.test(node);
    }

    @Override
    public Earlier earlierReplies() {
      told.add("replies");
      return () -> true;
    }

    @Override
    public void expireRights(long directory) {
      told.add("rights");
    }

    @Override
    public void expireDirectory(long node) {}

    @Override
    public OptionalLong inVain(LongPredicate directories) {
      return used.isPresent() && directories.test(used.getAsLong()) ? used : OptionalLong.empty();
    }
  }

  /** It asked the client, which had kept the attributes of before, and found nothing different. */
  @Test
  void refresh_clientKeepsAttributes_asksTheStore() throws FsException {
    origin.file("d/f", new byte[1]);
    origin.keepAttributes();
    changes.refresh("");
    Node directory = lookup(tree.root(), "d");
    for (String path : List.of("", "d", "d/f")) {
      origin.overwrite("d/f", new byte[1]);
      assertThat(lookup(directory, "f").version()).isNotEqualTo(origin.versionOf("d/f"));
      assertThat(changes.refresh(path)).as("'%s'", path).isEqualTo(1);
      assertThat(lookup(directory, "f").version()).isEqualTo(origin.versionOf("d/f"));
    }
  }

  /** A listing on its way may show the rights of before to a kernel that knows no directory yet. */
  @Test
  void directoryClosed_kernelAsksForItsRightsAgain_onceAllHaveTheirReplies() throws FsException {
    origin.file("d/f", new byte[1]);
    origin.chmod("d", 0755);
    Node directory = lookup(tree.root(), "d");
    told.clear();

    origin.chmod("d", 0700);
    tree.refresh(directory);

    assertThat(told).containsExactly("rights", "replies", "rights");
  }

  /**
   * A user who listed a directory into memory that hangs kept every change from the kernel, and the
   * refresh said that all was well.
   */
  @Test
  void refresh_kernelDoesNotTakeWhatItIsTold_fails() throws FsException {
    origin.file("d/f", new byte[1]);
    origin.file("d/e/f", new byte[1]);
    origin.file("other/f", new byte[1]);
    used = OptionalLong.of(lookup(tree.root(), "d").id());

    for (String path : List.of("", "d", "d/f", "d/e")) {
      assertFails(() -> changes.refresh(path), FsError.TIMED_OUT);
    }
    changes.refresh("other");
    used = OptionalLong.empty();
    changes.refresh("");
  }

  /** A reply that never comes, as to a request about a part of the origin that hangs. */
  @Test
  void changed_repliesAreWaitedFor_asksTheOrigin() throws FsException {
    origin.file("f", new byte[1]);
    Node file = lookup(tree.root(), "f");
    List<Runnable> waits = new ArrayList<>();
    waiter = waits::add;
    changes = changes(false);
    origin.file("d/f", new byte[1]);
    Node directory = lookup(tree.root(), "d");
    changes.otherRights(directory);
    assertThat(waits).hasSize(1);
    long asked = origin.stats();

    changes.changed(file.id());

    assertThat(origin.stats()).isGreaterThan(asked);
  }

  /** The daemon before had told the kernel that there is no such name, and nobody else knew. */
  @Test
  void refresh_afterAnotherDaemon_tellsTheKernelOfNamesThatAreNew() throws FsException {
    origin.file("d/known", new byte[1]);
    tree.bringIn(lookup(tree.root(), "d"), (name, type, inode, attributes) -> {});
    origin.file("d/fresh", new byte[1]);
    origin.file("named", new byte[1]);
    DatasetChanges successor = changes(true);

    successor.refresh("named");
    assertThat(told).contains("name named");
    successor.refresh("");

    assertThat(told).contains("name fresh").doesNotContain("name known");
  }

  /** A listing of either daemon had added them; the kernel, which had not asked, was not told. */
  @Test
  void refresh_afterAnotherDaemon_tellsTheKernelOfNamesThatOthersHaveAdded() throws FsException {
    origin.file("d/known", new byte[1]);
    origin.file("d/earlier", new byte[1]);
    Node directory = lookup(tree.root(), "d");
    tree.bringIn(directory, (name, type, inode, attributes) -> {});
    long known = tree.known(directory, "known".getBytes(UTF_8)).id();
    DatasetChanges successor = changes(true);
    origin.file("d/one", new byte[1]);
    origin.file("d/other", new byte[1]);
    tree.bringIn(directory, (name, type, inode, attributes) -> {});
    knows = node -> node == known;

    successor.refresh("d/one");
    assertThat(told).contains("name one").doesNotContain("name other");
    successor.refresh("d");

    assertThat(told).contains("name earlier", "name other").doesNotContain("name known");
  }

  /** A daemon tells the kernel that a name is missing only before it knows the name. */
  @Test
  void refresh_afterTooManyMissingNames_tellsTheKernelOfNamesThatAreNew() throws FsException {
    origin.file("d/known", new byte[1]);
    Node directory = lookup(tree.root(), "d");
    tree.bringIn(directory, (name, type, inode, attributes) -> {});
    DatasetChanges own = changes(false);
    for (int i = 0; i <= 100_000; i++) {
      own.missing(Tree.ROOT, ("n" + i).getBytes(UTF_8));
    }
    origin.file("d/other", new byte[1]);
    tree.bringIn(directory, (name, type, inode, attributes) -> {});
    knows = node -> false;

    own.refresh("d");

    assertThat(told).contains("name other").doesNotContain("name known");
  }

  /** It had found the new version, and then was killed; or it had told the kernel long before. */
  @ParameterizedTest
  @CsvSource({
    "true, false, true",
    "true, true, false",
    "false, true, false",
    "false, false, false"
  })
  void tellParted_nameMayLeadToTheOldNode_tellsTheKernel(
      boolean knowsOld, boolean knowsNext, boolean tells, @TempDir Path state) throws FsException {
    Path file = state.resolve("nodes");
    origin.file("f", new byte[1]);
    origin.file("other", new byte[1]);
    long old;
    long next;
    try (NodeTable before = new NodeTable(GrowingMemory.at(file))) {
      Tree known = new Tree(origin, before, node -> {});
      old = known.lookup(known.root(), "f".getBytes(UTF_8)).id();
      known.lookup(known.root(), "other".getBytes(UTF_8));
      origin.file("f", new byte[2]);
      next = known.lookup(known.root(), "f".getBytes(UTF_8)).id();
    }
    knows = node -> node == old ? knowsOld : node != next || knowsNext;
    try (NodeTable after = new NodeTable(GrowingMemory.at(file))) {
      tree = new Tree(origin, after, new OfRights());
      changes(true).tellParted();

      assertThat(told).isEqualTo(tells ? List.of("name f") : List.of());
    }
  }

  /** It was killed before it had the next node. */
  @Test
  void tellParted_nameOfADirectoryThatIsGone_isToldAlone(@TempDir Path state) throws FsException {
    Path file = state.resolve("nodes");
    origin.file("d/f", new byte[1]);
    try (NodeTable before = new NodeTable(GrowingMemory.at(file))) {
      Tree known = new Tree(origin, before, node -> {});
      Node directory = known.lookup(known.root(), "d".getBytes(UTF_8));
      known.bringIn(directory, (name, type, inode, attributes) -> {});
      origin.remove("d");
      assertThatThrownBy(() -> known.lookup(known.root(), "d".getBytes(UTF_8)))
          .isInstanceOf(FsException.class);
    }
    try (NodeTable after = new NodeTable(GrowingMemory.at(file))) {
      tree = new Tree(origin, after, new OfRights());
      DatasetChanges successor = changes(true);
      successor.tellParted();
      successor.tellParted();

      assertThat(told).containsExactly("name d");
    }
  }

  private Node lookup(Node directory, String name) throws FsException {
    return metadata.lookup(directory, name.getBytes(UTF_8));
  }

  /**
   * The owner closes a file, and then opens its directory, while the directory is being listed. The
   * listing has already passed the file. When it came to its end, the directory counted as listed
   * whole, and everybody could read the file until the metadata TTL was over.
   */
  @Test
  void directoryOpenedWhileItIsListed_fileThatWasClosedBefore_isShownClosed() throws FsException {
    origin.file("d/closed", new byte[1]);
    origin.file("d/later", new byte[1]);
    origin.chmod("d", 0700);
    Node directory = lookup(tree.root(), "d");
    AtomicBoolean opened = new AtomicBoolean();
    origin.setGate(
        new FakeOrigin.Gate() {
          @Override
          public void stat(OriginPath path) throws FsException {
            if (path.equals(OriginPath.of("d/later")) && !opened.getAndSet(true)) {
              origin.chmod("d/closed", 0600);
              origin.chmod("d", 0755);
              assertThat(lookup(tree.root(), "d")).isEqualTo(directory);
            }
          }
        });
    tree.bringIn(directory, (name, type, inode, attributes) -> {});

    assertThat(opened).isTrue();
    assertThat(changes.openings().of(directory.id())).as("an opening under way").isNull();
    assertThat(directory.attributes().mode() & PERMISSIONS).isEqualTo(0755);
    assertThat(lookup(directory, "closed").attributes().mode() & PERMISSIONS).isEqualTo(0600);

    tree.bringIn(directory, (name, type, inode, attributes) -> {});
    assertThat(tree.listedAt(directory)).as("the next listing").isNotZero();
  }
}
