package io.holdfast.fs.tree;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.holdfast.fs.Await;
import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.linux.Boot;
import io.holdfast.fs.linux.GrowingMemory;
import io.holdfast.fs.origin.FakeOrigin;
import io.holdfast.fs.origin.OriginPath;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Directories change at the origin; entries below them are not shown by their old rights. */
final class AncestorRightsTest {
  private static final int MODE = 0777;

  private final FakeOrigin origin = new FakeOrigin();
  private final List<String> replaced = new CopyOnWriteArrayList<>();
  private final List<String> elsewhere = new CopyOnWriteArrayList<>();
  private final List<String> otherRights = new CopyOnWriteArrayList<>();
  private final ExecutorService threads = Executors.newFixedThreadPool(1);
  private NodeTable nodes;
  private Tree tree;

  @BeforeEach
  void create() throws FsException {
    nodes = new NodeTable(GrowingMemory.ofProcess("nodes"));
    tree =
        new Tree(
            origin,
            nodes,
            new Tree.ChangeListener() {
              @Override
              public void replaced(Node old) {
                replaced.add(old.path().toString());
              }

              @Override
              public void elsewhere(Node directory) {
                elsewhere.add(directory.path().toString());
              }

              /** The names that came with the rights are not known by then. */
              @Override
              public void otherRights(Node directory) {
                otherRights.add(directory.path() + " " + isKnown("a/b/new"));
              }
            });
    origin.file("a/b/file", new byte[1]);
    lookup("a/b/file");
  }

  @AfterEach
  void free() {
    Await.end(threads);
    nodes.close();
  }

  private static byte[] name(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private Node lookup(String path) throws FsException {
    Node node = tree.root();
    for (String each : path.split("/", -1)) {
      node = tree.lookup(node, name(each));
    }
    return node;
  }

  private boolean isKnown(String path) {
    Node node = tree.root();
    for (String each : path.split("/", -1)) {
      node = node == null ? null : tree.known(node, name(each));
    }
    return node != null;
  }

  private Node directory(String path) {
    Node node = tree.root();
    for (String each : path.split("/", -1)) {
      node = tree.known(node, name(each));
    }
    return node;
  }

  private void assertIsStale(Node directory, String name) {
    assertThatExceptionOfType(FsException.class)
        .isThrownBy(() -> tree.lookup(directory, name(name)))
        .satisfies(e -> assertThat(e.code()).isEqualTo(FsError.STALE));
  }

  @Test
  void lookup_directoryHasOtherRights_isStaleOnce() throws FsException {
    Node b = directory("a/b");
    origin.chmod("a/b", 0700);
    origin.file("a/b/new", new byte[1]);

    assertIsStale(b, "new");

    assertThat(otherRights).containsExactly("a/b false");
    assertThat(b.attributes().mode() & MODE).isEqualTo(0700);
    assertThat(tree.lookup(b, name("new")).isStale()).isFalse();
    assertThat(directory("a/b")).isEqualTo(b);
    assertThat(replaced).isEmpty();
  }

  @Test
  void lookupOfNewName_directoryFarAboveHasOtherRights_isStaleOnce() throws FsException {
    Node b = directory("a/b");
    origin.chmod("a", 0700);
    origin.chmod("", 0711);
    origin.file("a/b/new", new byte[1]);

    assertIsStale(b, "new");

    assertThat(otherRights).containsExactly(". false", "a false");
    assertThat(tree.lookup(b, name("new")).isStale()).isFalse();
  }

  @Test
  void lookupOfNewVersion_directoryFarAboveHasOtherRights_isStaleOnce() throws FsException {
    Node b = directory("a/b");
    origin.chmod("a", 0700);
    tree.lookup(b, name("file"));
    assertThat(otherRights).as("what was to be seen before").isEmpty();
    origin.overwrite("a/b/file", new byte[] {1});

    assertIsStale(b, "file");

    assertThat(otherRights).containsExactly("a false");
    assertThat(replaced).isEmpty();
    tree.lookup(b, name("file"));
    assertThat(replaced).containsExactly("a/b/file");
  }

  @Test
  void lookup_otherNamesInTheDirectories_costsNothing() throws FsException {
    Node b = directory("a/b");
    for (int i = 0; i < 10; i++) {
      origin.file("a/b/new" + i, new byte[1]);
      origin.file("a/new" + i, new byte[1]);
      long before = origin.stats();
      tree.lookup(b, name("new" + i));
      assertThat(origin.stats() - before).isEqualTo(1);
    }
    assertThat(otherRights).isEmpty();
  }

  @Test
  void lookup_anotherDirectoryTookTheName_isStaleUntilThatNameIsLookedUp() throws FsException {
    Node b = directory("a/b");
    origin.file("v/b/file", new byte[1]);
    origin.file("v/b/secret", new byte[1]);
    origin.chmod("v", 0700);
    origin.move("a", "old");
    origin.move("v", "a");

    assertIsStale(b, "secret");
    assertThat(elsewhere).containsExactly("a");
    assertThat(isKnown("a/b/secret")).isFalse();
    assertIsStale(b, "secret");

    assertThat(lookup("a").attributes().mode() & MODE).isEqualTo(0700);
    assertThat(replaced).containsExactlyInAnyOrder("a", "a/b", "a/b/file");
    assertThat(b.isStale()).isTrue();
    assertThat(lookup("a/b/secret").isStale()).isFalse();
  }

  @Test
  void lookupWhateverTheWay_anotherDirectoryOrOtherRights_findsWhatIsThere() throws FsException {
    origin.chmod("a", 0700);
    origin.file("a/b/new", new byte[1]);
    assertThat(tree.lookupWhateverTheWay(directory("a/b"), name("new")).isStale()).isFalse();
  }

  /** A scan tells of new names only when the kernel knows who may get there. */
  @Test
  void scan_directoryAboveHasOtherRightsSinceItWasListed_isToldBeforeNewNames() throws FsException {
    TreePass pass = new TreePass(tree, new Moment(1, 1, Boot.id()), TreePass.ChangeSink.NONE);
    origin.setGate(
        new FakeOrigin.Gate() {
          @Override
          public void stat(OriginPath path) {
            if (path.equals(OriginPath.of("a/b/file")) && !isKnown("a/b/new")) {
              origin.chmod("a", 0700);
              origin.file("a/b/new", new byte[1]);
            }
          }
        });
    new TreeScan(origin, tree, threads).run(tree.root(), pass, (in, name, is) -> {}, () -> true);
    origin.setGate(new FakeOrigin.Gate() {});
    TreePass next = new TreePass(tree, new Moment(2, 2, Boot.id()), TreePass.ChangeSink.NONE);
    new TreeScan(origin, tree, threads).run(directory("a/b"), next, (in, n, is) -> {}, () -> true);

    assertThat(isKnown("a/b/new")).isTrue();
    assertThat(otherRights).containsExactly("a false");
  }
}
