package io.holdfast.fs.peers;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.OutOfMemory;
import io.holdfast.fs.linux.Libc;
import io.holdfast.fs.linux.Memory;
import io.holdfast.fs.origin.Attributes;
import io.holdfast.fs.origin.Origin;
import io.holdfast.fs.origin.OriginFile;
import io.holdfast.fs.origin.OriginPath;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Makes sketches of a dataset from its origin, and compares the sketches of peers with it.
 *
 * <p>A sketch costs the same for ten files as for ten million. Some walks start at the root. Each
 * walk descends into the directory whose name has the smallest hash for this walk, and takes the
 * files with the smallest hashes at its end. So all nodes with the same tree choose the same files,
 * in whatever order their stores list, and without a scan. An added file or directory changes only
 * a few of the chosen files. Of a directory, the first {@value #MOST_ENTRIES} entries count.
 *
 * <p>A peer's sketch is compared by looking at its files at this node's origin, unless this node's
 * own sketch has an equal line. So two sketches need not have the same files, and may be from
 * different times.
 *
 * <p>Used by one thread at a time, which may wait for the origin.
 */
final class SketchMaker {
  private static final int WALKS = 8;
  private static final int FILES_OF_A_WALK = DatasetSketch.MOST / WALKS;
  private static final int MOST_ENTRIES = 4096;
  private static final int MOST_LISTINGS = 64;
  private static final int PIECE = 4096;

  /** Bytes that a store may have read ahead into memory for a piece. */
  private static final int READ_AHEAD = 256 << 10;

  private static final Duration LONGEST = Duration.ofSeconds(20);

  private final Origin origin;
  private final LongSupplier nanoTime;

  SketchMaker(Origin origin, LongSupplier nanoTime) {
    this.origin = origin;
    this.nanoTime = nanoTime;
  }

  /**
   * Makes a sketch.
   *
   * @throws FsException where the root cannot be listed, or no file can be read that is there
   */
  DatasetSketch make() throws FsException {
    long end = nanoTime.getAsLong() + LONGEST.toNanos();
    Map<OriginPath, Directory> listed = new HashMap<>();
    Map<String, FileSample> samples = new TreeMap<>();
    FsException unread = null;
    for (int walk = 0; walk < WALKS; walk++) {
      for (Entry file : walk(walk, listed, end)) {
        if (nanoTime.getAsLong() > end) {
          break;
        }
        try {
          FileSample sample = sample(file.path, file.attributes);
          samples.put(sample.toString(), sample);
        } catch (FsException e) {
          unread = isGone(e) ? unread : e;
        }
      }
    }
    if (samples.isEmpty() && unread != null) {
      throw unread; // a sketch without files would say that there are none
    }
    return new DatasetSketch(origin.describe(), List.copyOf(samples.values()));
  }

  private List<Entry> walk(int walk, Map<OriginPath, Directory> listed, long end)
      throws FsException {
    List<Entry> found = new ArrayList<>();
    OriginPath at = OriginPath.ROOT;
    while (at != null) {
      Directory directory = listed.get(at);
      if (directory == null) {
        if (listed.size() == MOST_LISTINGS || nanoTime.getAsLong() > end) {
          break;
        }
        directory = list(at);
        listed.put(at, directory);
      }
      found.addAll(directory.files(walk));
      at = directory.next(walk);
    }
    return found.subList(Math.max(0, found.size() - FILES_OF_A_WALK), found.size());
  }

  private Directory list(OriginPath path) throws FsException {
    Directory directory = new Directory(path);
    try {
      origin.list(path, (name, type, inode, attributes) -> directory.take(name, attributes));
    } catch (Enough e) {
      return directory;
    } catch (FsException e) {
      if (path.equals(OriginPath.ROOT)) {
        throw e;
      }
      // it has gone, or may not be listed: the walk ends above it
    }
    return directory;
  }

  /**
   * Samples a file.
   *
   * @throws FsException where the file cannot be read, or is just changing
   */
  private FileSample sample(OriginPath path, Attributes attributes) throws FsException {
    String place =
        Long.toHexString(attributes.inode()) + "-" + Long.toHexString(attributes.changed());
    String tag = PeerRequests.content(attributes.version());
    String content = attributes.etag().isEmpty() ? content(path, attributes) : "";
    return new FileSample(path, tag, content, place);
  }

  /** Tells whether a failure says that a file is not there, or is another one by now. */
  private static boolean isGone(FsException failure) {
    return switch (failure.code()) {
      case NOT_FOUND, NOT_DIRECTORY, SYMLINK, NAME_TOO_LONG, STALE -> true;
      default -> false;
    };
  }

  /** Digests the first bytes, and some at an offset that follows from the name. */
  private String content(OriginPath path, Attributes attributes) throws FsException {
    long size = attributes.size();
    int first = (int) Math.min(size, PIECE);
    long hash = hash(path.bytes(), WALKS);
    long from = size <= PIECE ? 0 : Long.remainderUnsigned(hash, size - PIECE);
    byte[] pieces = Arrays.copyOf(piece(path, attributes, 0, first), 2 * first);
    System.arraycopy(piece(path, attributes, from, first), 0, pieces, first, first);
    return DatasetSketch.digest(pieces);
  }

  private byte[] piece(OriginPath path, Attributes attributes, long from, int length)
      throws FsException {
    Origin.Part part = new Origin.Part(attributes.version(), from, length);
    long memory = Libc.LIBC.malloc(PIECE);
    if (memory == 0) {
      throw OutOfMemory.outsideHeap("a look at a file");
    }
    try (OriginFile file = origin.open(path, part)) {
      int read = file.read(from, memory, length);
      file.discard(from - from % PIECE, READ_AHEAD);
      if (read != length || !file.version().equals(attributes.version())) {
        throw new FsException(FsError.STALE, path + ": has just changed");
      }
      return Memory.bytes(memory, length);
    } finally {
      Libc.LIBC.free(memory);
    }
  }

  /**
   * Compares what a peer told with the own sketch, and where that does not tell with the origin. A
   * file that the origin has with this version, and does not give, is neither equal nor missing.
   *
   * @throws FsException where the origin cannot be asked, or does not give most of the files
   */
  Comparison compare(DatasetSketch own, DatasetSketch theirs) throws FsException {
    Map<OriginPath, FileSample> known = new HashMap<>();
    own.samples().forEach(sample -> known.put(sample.path(), sample));
    Comparison.Count count = new Comparison.Count();
    int unread = 0;
    for (FileSample told : theirs.samples()) {
      FileSample here = known.get(told.path());
      boolean settled = here != null && here.tag().equals(told.tag());
      Attributes there = settled ? null : stat(told.path());
      try {
        count.add(told, settled ? here : look(told, there));
      } catch (FsException e) {
        unread++;
        if (2 * unread > theirs.samples().size()) {
          throw e;
        }
      }
    }
    return count.result();
  }

  /** Returns null where there is no file. */
  private @Nullable Attributes stat(OriginPath path) throws FsException {
    try {
      Attributes attributes = origin.stat(path);
      return attributes.isRegular() ? attributes : null;
    } catch (FsException e) {
      if (isGone(e)) {
        return null;
      }
      throw e;
    }
  }

  /** Returns null where there is no file of the told version; its bytes do not matter then. */
  private @Nullable FileSample look(FileSample told, @Nullable Attributes there)
      throws FsException {
    if (there == null || !PeerRequests.content(there.version()).equals(told.tag())) {
      return null;
    }
    try {
      return sample(told.path(), there);
    } catch (FsException e) {
      if (isGone(e)) {
        return null;
      }
      throw e;
    }
  }

  private static long hash(byte[] name, int walk) {
    return new SplittableRandom((long) walk << 32 ^ Arrays.hashCode(name)).nextLong();
  }

  private record Entry(OriginPath path, Attributes attributes, long hash) {}

  /** Ends a listing. */
  private static final class Enough extends RuntimeException {
    private static final long serialVersionUID = 1;

    Enough() {
      super("enough entries were seen", null, false, false);
    }
  }

  /** The names found in a directory, for each walk. */
  private static final class Directory {
    private final OriginPath path;
    private final Entry[] next = new Entry[WALKS];
    private final List<List<Entry>> files = new ArrayList<>();
    private int entries;

    Directory(OriginPath path) {
      this.path = path;
      for (int walk = 0; walk < WALKS; walk++) {
        files.add(new ArrayList<>());
      }
    }

    void take(byte[] name, @Nullable Attributes attributes) {
      if (++entries > MOST_ENTRIES) {
        throw new Enough();
      }
      OriginPath child = path.child(name);
      if (attributes == null || !FileSample.isTold(child.bytes())) {
        return;
      }
      for (int walk = 0; walk < WALKS; walk++) {
        Entry entry = new Entry(child, attributes, hash(name, walk));
        if (attributes.isDirectory()) {
          Entry best = next[walk];
          next[walk] = best == null || entry.hash < best.hash ? entry : best;
        } else if (attributes.isRegular() && attributes.size() > 0) {
          List<Entry> kept = files.get(walk);
          kept.add(entry);
          kept.sort((one, other) -> Long.compare(one.hash, other.hash));
          if (kept.size() > FILES_OF_A_WALK) {
            kept.remove(FILES_OF_A_WALK);
          }
        }
      }
    }

    List<Entry> files(int walk) {
      return files.get(walk);
    }

    @Nullable OriginPath next(int walk) {
      Entry best = next[walk];
      return best == null ? null : best.path;
    }
  }
}
