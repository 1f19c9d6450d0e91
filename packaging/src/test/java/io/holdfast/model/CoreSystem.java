package io.holdfast.model;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.nio.file.StandardCopyOption.ATOMIC_MOVE;
import static java.nio.file.StandardCopyOption.REPLACE_EXISTING;

import io.holdfast.fs.CheckedBytes;
import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.ReadReply;
import io.holdfast.fs.ReadSource;
import io.holdfast.fs.linux.Memory;
import io.holdfast.fs.mount.Asker;
import io.holdfast.fs.mount.Errnos;
import io.holdfast.fs.mount.Filesystem;
import io.holdfast.fs.origin.Attributes;
import io.holdfast.fs.origin.Origin;
import io.holdfast.fs.origin.posix.PosixOrigin;
import io.holdfast.fs.peers.PeerService;
import io.holdfast.it.Await;
import io.holdfast.peer.ClusterNode;
import io.holdfast.peer.NodeAddress;
import io.holdfast.peer.SharedDataset;
import io.holdfast.peer.transfer.BufferLease;
import io.holdfast.peer.transfer.ItemProvider;
import io.holdfast.peer.transfer.ItemRequest;
import io.holdfast.peer.transfer.Refusal;
import io.holdfast.peer.transfer.TransferResult;
import io.holdfast.posix.Posix;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * Two nodes without mounts, in this process, that are peers. What is seen is what the first one
 * answers. A directory stands for what the kernel has of both mounts: a name leads to the inode
 * that was looked up, whatever has become of the name at the origin.
 */
final class CoreSystem implements SystemUnderTest {
  private static final int ITEM = 1 << 14;
  private static final long CAPACITY = 64L * ITEM;
  private static final SharedDataset DATASET = new SharedDataset("model", ITEM);
  private static final Duration LONGEST = Duration.ofSeconds(60);

  /** Threads that there are not. */
  private static final int FIRST_THREAD = 1 << 24;

  /** Root, on no thread that anybody knows. */
  static final Asker ASKER = new Asker(0, 0, 0);

  private final Path root;
  private final boolean slow;
  private final List<CoreNode> nodes = new ArrayList<>();
  private final AtomicInteger threads = new AtomicInteger(FIRST_THREAD);
  private final AtomicInteger faults = new AtomicInteger();
  private volatile boolean peerIsUp = true;

  /**
   * Makes the nodes.
   *
   * @param root an empty directory
   * @param slow whether the origin is like one where asking takes long
   */
  CoreSystem(Path root, boolean slow) throws IOException {
    this.root = root;
    this.slow = slow;
    Files.createDirectory(origin());
    Files.createDirectory(ownMount());
    List<ClusterNode> all = List.of(node("a"), node("b"));
    for (int i = 0; i < all.size(); i++) {
      ClusterNode other = all.get(1 - i);
      ClusterNode self = all.get(i);
      nodes.add(
          new CoreNode(
              openOrigin(),
              ownMount(),
              new CoreNode.Place(
                  self,
                  all,
                  (peer, request, address, answered) -> fetch(other, request, address, answered),
                  (peer, request) -> tell(other, self.address(), request))));
    }
  }

  private static ClusterNode node(String host) {
    return new ClusterNode(new NodeAddress(host, 7070), DATASET, CAPACITY);
  }

  private Origin openOrigin() throws FsException {
    Origin local = PosixOrigin.open(origin(), InstantSource.system());
    return slow ? asIfSlow(local) : local;
  }

  private static Origin asIfSlow(Origin local) {
    return (Origin)
        Proxy.newProxyInstance(
            Origin.class.getClassLoader(),
            new Class<?>[] {Origin.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("mayHang")) {
                return true;
              }
              try {
                return method.invoke(local, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }

  private Path ownMount() {
    return root.resolve("mount");
  }

  @Override
  public Path origin() {
    return root.resolve("origin");
  }

  @Override
  public int itemSize() {
    return ITEM;
  }

  @Override
  public boolean believes() {
    return slow;
  }

  @Override
  public boolean listsTheMoment() {
    return !slow;
  }

  // peers

  private void fetch(
      ClusterNode from, ItemRequest request, long address, Consumer<TransferResult> answered) {
    if (!peerIsUp) {
      if (faults.incrementAndGet() % 2 == 0) {
        answered.accept(TransferResult.SUSPECT);
        return;
      }
      Memory.clear(address, request.length());
      answered.accept(TransferResult.fault("it broke off"));
      return;
    }
    serviceOf(from)
        .get(
            request,
            new NodeAddress("asker", 7070), // only plans need to know it, and these have none
            true,
            new ItemProvider.Answer() {
              @Override
              public void lent(BufferLease loan) {
                Memory.copy(loan.address(), address, loan.length());
                boolean whole = loan.length() == request.length();
                loan.close();
                answered.accept(
                    whole ? TransferResult.FETCHED : TransferResult.fault("too little"));
              }

              @Override
              public void refused(Refusal refusal) {
                answered.accept(TransferResult.refused(refusal));
              }
            });
  }

  private void tell(ClusterNode other, NodeAddress from, ItemRequest request) {
    if (peerIsUp) {
      serviceOf(other).held(request, from);
    }
  }

  private PeerService serviceOf(ClusterNode node) {
    return nodes.get(node.address().host().equals("a") ? 0 : 1).service;
  }

  @Override
  public void peer(boolean up) {
    peerIsUp = up;
  }

  // what is seen

  private Filesystem filesystem() {
    return nodes.get(0).filesystem;
  }

  private Filesystem.Entry walk(String path) throws FsException {
    Filesystem.Entry at =
        new Filesystem.Entry(Filesystem.ROOT, filesystem().attributes(Filesystem.ROOT));
    for (String name : path.split("/", -1)) {
      if (at.attributes().isSymlink()) {
        throw new FsException(FsError.NOT_FOUND, path + ": links lead nowhere here");
      }
      if (!at.attributes().isDirectory()) {
        throw new FsException(FsError.NOT_DIRECTORY, path);
      }
      at = filesystem().lookup(at.node(), name.getBytes(UTF_8), ASKER);
    }
    return at;
  }

  private static String errno(FsException failure) {
    return Posix.errorName(Errnos.negative(failure.code()));
  }

  private static Refused refused(FsException failure) {
    return new Refused(errno(failure), failure);
  }

  private static Shown shown(Attributes attributes) {
    if (attributes.isDirectory()) {
      return Shown.DIRECTORY;
    }
    return attributes.isSymlink()
        ? Shown.linkOfLength(attributes.size())
        : Shown.file(attributes.size(), TimeUnit.NANOSECONDS.toSeconds(attributes.modified()));
  }

  @Override
  public Shown look(String path) {
    try {
      return shown(walk(path).attributes());
    } catch (FsException e) {
      return Shown.nothing(errno(e));
    }
  }

  @Override
  public List<String> list(String directory) throws Refused {
    List<String> names = new ArrayList<>();
    try {
      Filesystem.Entry entry = walk(directory);
      if (!entry.attributes().isDirectory()) {
        throw new Refused(entry.attributes().isSymlink() ? "ENOENT" : "ENOTDIR");
      }
      boolean look = threads.incrementAndGet() % 2 == 0;
      filesystem()
          .list(entry.node(), 0, type -> look, each -> names.add(new String(each.name(), UTF_8)));
      return names;
    } catch (FsException e) {
      throw refused(e);
    }
  }

  @Override
  public String readLink(String path) throws Refused {
    try {
      Filesystem.Entry entry = walk(path);
      if (!entry.attributes().isSymlink()) {
        throw new Refused("EINVAL");
      }
      return new String(filesystem().readLink(entry.node(), 0, 0), UTF_8);
    } catch (FsException e) {
      throw refused(e);
    }
  }

  @Override
  public Open open(String path) throws Refused {
    try {
      Filesystem.Entry entry = walk(path);
      if (!entry.attributes().isRegular()) {
        throw new Refused(entry.attributes().isSymlink() ? "ENOENT" : "EISDIR");
      }
      return new OpenNode(entry.node(), threads.incrementAndGet());
    } catch (FsException e) {
      throw refused(e);
    }
  }

  private final class OpenNode implements Open {
    private final long node;
    private final int thread;

    OpenNode(long node, int thread) {
      this.node = node;
      this.thread = thread;
    }

    @Override
    public Shown look() throws Refused {
      try {
        return shown(filesystem().attributes(node));
      } catch (FsException e) {
        throw refused(e);
      }
    }

    @Override
    public byte[] read(long offset, int length) throws Refused {
      Reply reply = new Reply();
      filesystem().read(node, offset, length, thread, reply);
      try {
        return reply.bytes.get(LONGEST.toSeconds(), TimeUnit.SECONDS);
      } catch (ExecutionException e) {
        throw refused((FsException) e.getCause());
      } catch (InterruptedException | TimeoutException e) {
        throw new AssertionError("a read has no answer", e);
      }
    }

    @Override
    public void close() {}
  }

  private static final class Reply implements ReadReply {
    final CompletableFuture<byte[]> bytes = new CompletableFuture<>();

    @Override
    public void data(CheckedBytes data) {
      byte[] copied = Memory.bytes(data.address(), data.length());
      if (!bytes.complete(copied)) {
        throw new AssertionError("a read was answered twice");
      }
    }

    @Override
    public void waitedFor(ReadSource source) {}

    @Override
    public void failed(FsException cause) {
      if (!bytes.completeExceptionally(cause)) {
        throw new AssertionError("a read was answered twice", cause);
      }
    }
  }

  /** The kernel has this inode at the name from now on. */
  @Override
  public void hold(String path, Shown file, byte[] content) {
    Path place = ownMount().resolve(path);
    try {
      if (Files.isRegularFile(place, LinkOption.NOFOLLOW_LINKS)
          && Files.getLastModifiedTime(place).to(TimeUnit.SECONDS) == file.modified()) {
        return;
      }
      for (Path above = place; !above.equals(ownMount()); above = above.getParent()) {
        boolean isFile = Files.isRegularFile(above, LinkOption.NOFOLLOW_LINKS);
        if (isFile == !above.equals(place)) {
          remove(above);
        }
      }
      Files.createDirectories(place.getParent());
      Path fresh = Files.write(ownMount().resolve("fresh"), content);
      Files.setLastModifiedTime(fresh, FileTime.from(file.modified(), TimeUnit.SECONDS));
      Files.move(fresh, place, ATOMIC_MOVE, REPLACE_EXISTING);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void remove(Path place) throws IOException {
    if (!Files.exists(place, LinkOption.NOFOLLOW_LINKS)) {
      return;
    }
    try (var all = Files.walk(place)) {
      for (Path each : all.sorted((a, b) -> b.compareTo(a)).toList()) {
        Files.delete(each);
      }
    }
  }

  // what users do

  @Override
  public void refresh(String path) throws Refused {
    try {
      nodes.get(0).changes.refresh(path);
    } catch (FsException e) {
      throw refused(e);
    }
  }

  @Override
  public void capacity(long bytes) {
    nodes.forEach(node -> node.residency.resize(bytes, 10_000));
  }

  @Override
  public long residentBytes() {
    return nodes.stream()
        .mapToLong(node -> node.residency.figures().residentBytes())
        .max()
        .orElse(0);
  }

  @Override
  public void awaitNothingHeld() throws Refused {
    for (CoreNode node : nodes) {
      try {
        node.changes.refresh("");
      } catch (FsException e) {
        throw refused(e);
      }
    }
    Await.until(LONGEST, "nothing is resident", () -> residentBytes() == 0);
    Await.until(
        LONGEST,
        "transit is empty",
        () -> nodes.stream().allMatch(node -> node.transit.used() == 0));
  }

  @Override
  public String toString() {
    return slow ? "core, slow origin" : "core";
  }

  @Override
  public void close() {
    nodes.forEach(CoreNode::close);
    nodes.forEach(CoreNode::free);
  }
}
