package io.holdfast.fs.mount;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

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
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A change of rights, and the names below a directory. */
final class DatasetChangesTest {
  private static final int PERMISSIONS = 0777;
  private static final Duration TTL = Duration.ofHours(1);

  private final FakeOrigin origin = new FakeOrigin();
  private NodeTable nodes;
  private Tree tree;
  private DatasetChanges changes;
  private MetadataCache metadata;

  @BeforeEach
  void create() throws FsException {
    nodes = new NodeTable(GrowingMemory.ofProcess("nodes"));
    tree = new Tree(origin, nodes, new OfRights());
    // an opening needs neither items nor transit nor residents
    changes =
        new DatasetChanges(
            new DatasetChanges.Parts(
                tree,
                new TreeScan(origin, tree, Runnable::run),
                null,
                null,
                null,
                new Kernel(),
                TTL,
                Runnable::run));
    metadata = new MetadataCache(tree, true, TTL, System::nanoTime);
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
  private static final class Kernel implements KernelView {
    @Override
    public boolean replace(long parent, byte[] name, long node) {
      return true;
    }

    @Override
    public void expire(long parent, byte[] name) {}

    @Override
    public void expireAttributes(long parent, byte[] name, long node) {}

    @Override
    public boolean mayKnow(long node) {
      return true;
    }

    @Override
    public boolean awaitReplies() {
      return true;
    }

    @Override
    public void expireRights(long directory) {}

    @Override
    public void expireDirectory(long node) {}
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
