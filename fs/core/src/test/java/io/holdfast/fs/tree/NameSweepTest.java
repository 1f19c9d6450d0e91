package io.holdfast.fs.tree;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.linux.GrowingMemory;
import io.holdfast.fs.origin.FakeOrigin;
import io.holdfast.fs.origin.OriginPath;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A loop of create, stat through the mount, unlink made the tree grow by 6 GB an hour: nobody asks
 * for a name again that has gone.
 */
final class NameSweepTest {
  private final FakeOrigin origin = new FakeOrigin();
  private NodeTable nodes;
  private Tree tree;

  @BeforeEach
  void create() throws FsException {
    nodes = new NodeTable(GrowingMemory.ofProcess("nodes"));
    tree = new Tree(origin, nodes, old -> {});
    tree.sweepOn(Runnable::run);
  }

  @AfterEach
  void close() {
    nodes.close();
  }

  private static byte[] name(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private void look(String path) throws FsException {
    Node at = tree.root();
    for (String each : path.split("/", -1)) {
      at = tree.lookup(at, name(each));
    }
  }

  @Test
  void names_thatWereAskedForAndHaveGone_go() throws FsException {
    origin.file("stays", new byte[1]);
    look("stays");
    for (int i = 0; i < 20_000; i++) {
      origin.file("f" + i, new byte[1]);
      look("f" + i);
      origin.remove("f" + i);
      assertThat(tree.size()).isLessThan(10_000);
    }
    look("stays");
    assertThat(tree.known(tree.root(), name("stays"))).isNotNull();
  }

  @Test
  void directories_thatHaveGoneWithWhatIsInThem_go() throws FsException {
    for (int i = 0; i < 8000; i++) {
      origin.file("d" + i + "/a/b", new byte[1]);
      look("d" + i + "/a/b");
      origin.remove("d" + i);
      assertThat(tree.size()).isLessThan(10_000);
    }
  }

  /** A name that was there when it was looked at again, and went then. */
  @Test
  void names_thatStayForAWhile_goWhenTheTableHasGrown() throws FsException {
    tree.scanned();
    Deque<String> staying = new ArrayDeque<>();
    for (int i = 0; i < 120_000; i++) {
      String path = "f" + i;
      origin.file(path, new byte[1]);
      look(path);
      if (i % 20 == 0) {
        staying.add(path);
        if (staying.size() > 200) {
          origin.remove(staying.remove());
        }
      } else {
        origin.remove(path);
      }
    }
    assertThat(tree.size()).isLessThan(11_000);
    for (String path : staying) {
      assertThat(tree.known(tree.root(), name(path))).as(path).isNotNull();
    }
  }

  @Test
  void names_thatAListingBroughtAndHaveGone_go() throws FsException {
    List<String> paths = new ArrayList<>();
    for (int round = 0; round < 30; round++) {
      origin.file("d" + round + "/stays", new byte[1]);
      for (int i = 0; i < 800; i++) {
        paths.add("d" + round + "/f" + i);
        origin.file(paths.get(i), new byte[1]);
      }
      Node directory = tree.lookup(tree.root(), name("d" + round));
      tree.bringIn(directory, (name, type, inode, attributes) -> {});
      paths.forEach(origin::remove);
      paths.clear();
      assertThat(tree.size()).isLessThan(10_000);
      assertThat(tree.known(directory, name("stays"))).isNotNull();
    }
  }

  /** The names stayed known for ever, and so did all that came after them. */
  @Test
  void sweep_hadNoThread_theNextOneLooksAtItsNamesToo() throws FsException {
    AtomicInteger sweeps = new AtomicInteger();
    tree.sweepOn(
        task -> {
          if (sweeps.getAndIncrement() == 0) {
            throw new OutOfMemoryError("unable to create native thread");
          }
          task.run();
        });
    for (int i = 0; i < 16_384; i++) {
      origin.file("f" + i, new byte[1]);
      look("f" + i);
      origin.remove("f" + i);
    }
    assertThat(sweeps).hasValue(2);
    assertThat(tree.size()).isLessThan(10);
  }

  /** A name counts as gone only if the origin says so. */
  @Test
  void origin_doesNotAnswer_nothingGoes() throws FsException {
    for (int i = 0; i < 8191; i++) {
      origin.file("f" + i, new byte[1]);
      look("f" + i);
    }
    origin.file("last", new byte[1]);
    origin.setGate(
        new FakeOrigin.Gate() {
          private boolean answered;

          @Override
          public void stat(OriginPath path) throws FsException {
            if (answered) {
              throw new FsException(FsError.IO, "gate");
            }
            answered = true;
          }
        });
    look("last");
    assertThat(tree.size()).isEqualTo(8193);
    assertThatThrownBy(() -> look("f1")).isInstanceOf(FsException.class);
    assertThat(tree.known(tree.root(), name("f1"))).isNotNull();
  }
}
