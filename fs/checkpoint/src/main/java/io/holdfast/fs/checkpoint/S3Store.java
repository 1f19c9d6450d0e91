package io.holdfast.fs.checkpoint;

import static io.holdfast.fs.linux.Libc.LIBC;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.origin.s3.ObjectBucket;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import jnr.constants.platform.Errno;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A prefix of a bucket as the store. Each regular file is an object under its path; everything else
 * is in one object, the {@link S3Index}.
 *
 * <pre>
 * PREFIX/PATH                                  the bytes of a file
 * PREFIX/.holdfast-checkpoint/owner            the node that may write
 * PREFIX/.holdfast-checkpoint/last             the last mount that could write
 * PREFIX/.holdfast-checkpoint/index            all names, as the last row left them
 * PREFIX/.holdfast-checkpoint/plan             the keys that the row under way writes
 * PREFIX/.holdfast-checkpoint/row-N/NUMBER     an object of a row whose name the row before has, too
 * PREFIX/.holdfast-checkpoint/name-HASH        the bytes of a file whose path can be no key
 * </pre>
 *
 * <p>A row becomes durable in this order:
 *
 * <ol>
 *   <li>The plan. Whoever finds it later takes away what it names and the index does not.
 *   <li>Objects: under their names if the index has no such name, else under the row's keys; those
 *       whose last change came last, last. What one operation has renamed goes at once.
 *   <li>The index, if it is still the one that this process knows: the row is committed.
 *   <li>Objects of the row's keys are copied to their names, the index says so, and objects without
 *       a name are deleted. Whoever opens the store after a crash goes on with that, before it
 *       writes.
 * </ol>
 *
 * <p>A process that opens the store puts the index again, under another stamp, and so does one that
 * got no answer. So an index that was sent and that the bucket has not seen yet fails.
 *
 * <p>One thread writes; the methods that read are thread-safe.
 */
public final class S3Store implements RowStore {
  private static final Logger log = LoggerFactory.getLogger(S3Store.class);

  private static final int ALL = Integer.MAX_VALUE;

  private final ObjectBucket bucket;
  private final S3Keys keys;
  private final Path directory;
  private final FileTree files;
  private final S3Requests requests = new S3Requests();
  private final S3RowObjects objects;
  private final AtomicLong reads = new AtomicLong();
  private final S3IndexObject index;
  private final S3Owner owner;
  private final S3LastMount last;

  /** The stamp of the index behind which nothing is left to do. */
  private long settled;

  private boolean isSettled;

  private final long largestFile;
  private final ReentrantLock writing = new ReentrantLock();
  private boolean isClosed;
  private @Nullable S3Row row;

  /**
   * Takes a store for a node. {@link #settle} finishes what a killed process has begun: programs do
   * not wait for it.
   *
   * @param bucket closed with the store, and if this fails
   * @param place the store as people write it
   * @param owner what identifies this node's front and, in another line, its mount
   * @param isHeld whether the front has operations that the store lacks
   * @param front the front's directory, where files are on their way
   * @param clock nanoseconds of the epoch
   * @throws IOException with one line if the store cannot be used: EBUSY if another node has it
   */
  public S3Store(
      ObjectBucket bucket,
      String place,
      String owner,
      boolean isHeld,
      Path front,
      LongSupplier clock)
      throws IOException {
    this.bucket = bucket;
    keys = new S3Keys(bucket.prefix());
    directory = front.resolve("row");
    Files.createDirectories(directory);
    files = FileTree.open(directory);
    objects = new S3RowObjects(bucket, keys, directory, requests);
    S3Owner taken = null;
    boolean open = false;
    try {
      largestFile = largestFile(directory);
      removeFiles();
      bucket.probe();
      taken = new S3Owner(bucket, place, owner, isHeld);
      this.owner = taken;
      last = new S3LastMount(bucket, place);
      index = new S3IndexObject(bucket, place, clock);
      objects.readPlan();
      abortUploads();
      open = true;
    } catch (FsException e) {
      throw e.code() == FsError.ACCESS_DENIED && !String.valueOf(e.getMessage()).contains(place)
          ? new FsException(
              FsError.ACCESS_DENIED,
              ("%s: access denied (%s): these credentials need s3:ListBucket, s3:GetObject,"
                      + " s3:PutObject, s3:DeleteObject, s3:AbortMultipartUpload and"
                      + " s3:ListBucketMultipartUploads there")
                  .formatted(place, e.getMessage()),
              e)
          : e;
    } finally {
      if (!open) {
        try {
          if (taken != null) {
            taken.giveBack();
          }
        } finally {
          close();
        }
      }
    }
  }

  /** A row needs room for a copy of each file that it changes. */
  private static long largestFile(Path directory) {
    long total = directory.toFile().getTotalSpace();
    return total <= 0
        ? ObjectBucket.LARGEST_OBJECT
        : Math.min(ObjectBucket.LARGEST_OBJECT, total / 2);
  }

  private void removeFiles() throws ErrnoException {
    for (FileTree.Entry entry : files.list("")) {
      files.remove(entry.name(), false);
    }
  }

  private void abortUploads() {
    try {
      Set<String> planned = objects.planned();
      bucket.abortUploads(key -> key.startsWith(S3Keys.OWN) || planned.contains(key));
    } catch (FsException e) {
      log.warn("uploads that were never completed may stay in the bucket: {}", e.getMessage());
    }
  }

  // ---- reading

  @Override
  public int longestTarget() {
    return ALL; // the index has it
  }

  @Override
  public int mostLinks() {
    return ALL;
  }

  @Override
  public long largestFile() {
    return largestFile;
  }

  @Override
  public boolean keepsOwners() {
    return true;
  }

  @Override
  public boolean exchanges() {
    return true; // a row has both names at once
  }

  @Override
  public boolean readsInPlace() {
    return false;
  }

  @Override
  public Stat stat(String path) throws ErrnoException {
    return index.now().stat(path);
  }

  @Override
  public List<FileTree.Entry> list(String path) throws ErrnoException {
    return index.now().list(path);
  }

  @Override
  public String readLink(String path) throws ErrnoException {
    S3Index.File file = index.now().require(path).file();
    if (file.type() != Stat.SYMLINK) {
      throw ErrnoException.of(Errno.EINVAL, path);
    }
    return file.target();
  }

  @Override
  public List<String> xattrNames(String path) throws ErrnoException {
    return List.copyOf(index.now().require(path).file().xattrs().keySet());
  }

  @Override
  public byte[] xattr(String path, String name) throws ErrnoException {
    String value = index.now().require(path).file().xattrs().get(name);
    if (value == null) {
      throw ErrnoException.of(Errno.ENODATA, path);
    }
    return FileTree.textAsBytes(value);
  }

  @Override
  public int openToRead(String path, Stat expected) throws ErrnoException {
    S3Index.Name name = index.now().require(path);
    if (!name.file().isRegular()) {
      throw ErrnoException.because(Errno.EIO, path, "is no regular file any more");
    }
    if (name.file().size() != expected.size() || name.file().uid() != expected.uid()) {
      throw ErrnoException.because(
          Errno.EIO, path, "the store has another file in its place, of another size or owner");
    }
    String file = "read-" + reads.incrementAndGet();
    int fd = files.create(file);
    try {
      fetch(path, name, file);
      return fd;
    } catch (ErrnoException e) {
      LIBC.close(fd);
      S3Index.Name now = index.now().find(path);
      if (now != null && !now.equals(name)) {
        return openToRead(path, expected); // its object has got its own name meanwhile
      }
      throw e;
    } finally {
      files.remove(file, false);
    }
  }

  /** Brings an object to a file of the front that is there. */
  private void fetch(String path, S3Index.Name name, String file) throws ErrnoException {
    String key = name.isStaged() ? name.staged() : keys.of(path);
    long size = name.file().size();
    if (size == 0) {
      return;
    }
    try {
      bucket.download(key, name.etag(), size, directory.resolve(file));
    } catch (FsException e) {
      throw e.code() == FsError.STALE || e.code() == FsError.NOT_FOUND
          ? ErrnoException.because(
              Errno.EIO,
              path,
              "the bucket has another object than the index says, or none: somebody else has"
                  + " changed it")
          : S3Requests.failure(e);
    }
  }

  // ---- writing; the store may be released while the last row is settled

  private interface Work {
    void run() throws ErrnoException;
  }

  private void alone(Work work) throws ErrnoException {
    writing.lock();
    try {
      if (isClosed) {
        throw ErrnoException.because(Errno.EIO, "", "the daemon ends");
      }
      work.run();
    } finally {
      writing.unlock();
    }
  }

  @Override
  public void checkOwner() throws ErrnoException {
    S3Requests.send(owner::require);
  }

  @Override
  public String lastMount() {
    return last.text();
  }

  @Override
  public void noteMount() throws ErrnoException {
    alone(() -> S3Requests.send(() -> owner.note(last)));
  }

  @Override
  public void begin() throws ErrnoException {
    alone(
        () -> {
          forgetRow();
          settle();
          row = new S3Row(index.now(), files, this::fetch);
        });
  }

  private void forgetRow() throws ErrnoException {
    S3Row old = row;
    row = null;
    if (old != null) {
      old.close();
      for (FileTree.Entry entry : files.list("")) {
        if (Character.isDigit(entry.name().charAt(0))) {
          files.remove(entry.name(), false);
        }
      }
    }
  }

  @Override
  public boolean isCommitted(long number) {
    return index.now().row() == number;
  }

  private S3Row begun() {
    S3Row begun = row;
    if (begun == null) {
      throw new IllegalStateException("no row has begun");
    }
    return begun;
  }

  @Override
  public void apply(Operation operation, long order, long time) throws ErrnoException {
    alone(() -> begun().apply(operation, order, time));
  }

  @Override
  public void write(Operation.Write write, long address, long order, long time)
      throws ErrnoException {
    alone(() -> begun().write(write, address, order, time));
  }

  @Override
  public long fetched() {
    return begun().fetched();
  }

  @Override
  public void commit(long number) throws ErrnoException {
    alone(
        () -> {
          S3Row taken = begun();
          taken.close();
          S3Requests.send(() -> commit(taken, number));
          forgetRow();
        });
  }

  private void commit(S3Row taken, long number) throws FsException {
    Map<String, S3Index.Name> made = objects.put(taken, owner::requireAgain);
    owner.requireAgain();
    S3Index before = taken.before();
    TreeMap<String, S3Index.Name> names = new TreeMap<>();
    taken
        .names()
        .forEach(
            (path, node) -> {
              S3Index.Name kept =
                  new S3Index.Name(
                      node.id, node.file(), node.isRegular() ? before.etag(path) : "", "");
              names.put(path, made.getOrDefault(path, kept));
            });
    List<String> garbage =
        before.names().keySet().stream()
            .filter(path -> before.hasObject(path) && !isRegular(names.get(path)))
            .toList();
    index.put(number, names, garbage);
  }

  private static boolean isRegular(S3Index.@Nullable Name name) {
    return name != null && name.file().isRegular();
  }

  @Override
  public void settle() throws ErrnoException {
    alone(
        () ->
            S3Requests.send(
                () -> {
                  index.refresh();
                  if (!isSettled || settled != index.now().stamp()) {
                    rollForward();
                  }
                }));
  }

  /** Does what is left to do behind the index. */
  private void rollForward() throws FsException {
    S3Index now = index.now();
    NavigableMap<String, S3Index.Name> names = new TreeMap<>(now.names());
    List<Map.Entry<String, S3Index.Name>> staged = new ArrayList<>();
    for (Map.Entry<String, S3Index.Name> entry : now.names().entrySet()) {
      if (entry.getValue().isStaged()) {
        staged.add(entry);
      }
    }
    staged.sort(Comparator.comparing(entry -> entry.getValue().staged()));
    for (Map.Entry<String, S3Index.Name> entry : staged) {
      owner.requireAgain();
      names.put(entry.getKey(), named(entry.getKey(), entry.getValue(), now.garbage()));
    }
    if (!staged.isEmpty()) {
      index.put(now.row(), names, now.garbage());
    }
    Set<String> gone = new HashSet<>(objects.planned());
    now.garbage().forEach(path -> gone.add(keys.of(path)));
    staged.forEach(entry -> gone.add(entry.getValue().staged()));
    if (!isSettled) { // an earlier process may have left them
      gone.addAll(bucket.keys(S3Keys.ROWS, ALL));
    }
    names.forEach(
        (path, name) -> {
          if (isRegular(name)) {
            gone.remove(keys.of(path));
          }
        });
    requests.all(gone.stream().map(this::deletion).toList());
    objects.clean();
    settled = index.now().stamp();
    isSettled = true;
  }

  private S3Requests.Request deletion(String key) {
    return () -> {
      owner.requireAgain();
      bucket.delete(key);
    };
  }

  /** Gives an object of a row its name. */
  private S3Index.Name named(String path, S3Index.Name name, List<String> garbage)
      throws FsException {
    for (String gone : garbage) {
      if (isAbove(gone, path) || isAbove(path, gone)) {
        deletion(keys.of(gone)).send(); // some stores have no object beside others below it
      }
    }
    String etag = bucket.copy(name.staged(), name.etag(), name.file().size(), keys.of(path));
    return new S3Index.Name(name.id(), name.file(), etag, "");
  }

  private static boolean isAbove(String path, String other) {
    return other.startsWith(path + "/");
  }

  @Override
  public void release(boolean nothingPending) {
    if (nothingPending) { // else only this front has what is missing
      release();
    }
  }

  private void release() {
    try {
      alone(
          () -> {
            settle();
            S3Requests.send(owner::release);
          });
    } catch (IOException e) {
      log.warn("the store stays this node's: {}", e.getMessage());
    }
  }

  @Override
  public void close() {
    requests.close();
    bucket.close();
    if (!writing.tryLock()) {
      return; // a request hangs, and the files are in use as long as this process lives
    }
    try {
      S3Row old = row;
      if (old != null) {
        old.close();
      }
      files.close();
      isClosed = true;
    } finally {
      writing.unlock();
    }
  }
}
