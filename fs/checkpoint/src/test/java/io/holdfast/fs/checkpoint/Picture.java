package io.holdfast.fs.checkpoint;

import static io.holdfast.fs.linux.Libc.LIBC;

import io.holdfast.fs.linux.Linux;
import io.holdfast.fs.linux.Memory;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Types, modes, links, targets, attributes and bytes of all paths at a moment, to be compared: each
 * path with a line.
 */
final class Picture {
  /** Something with files. */
  private interface Tree {
    List<FileTree.Entry> list(String path) throws IOException;

    Stat stat(String path) throws IOException;

    String readLink(String path) throws IOException;

    byte @Nullable [] xattr(String path) throws IOException;

    int open(String path, Stat stat) throws IOException;
  }

  private static final String XATTR = "user.x";

  private final Tree tree;
  private final Map<String, String> lines = new TreeMap<>();
  private final Map<Long, String> links = new HashMap<>();

  private Picture(Tree tree) {
    this.tree = tree;
  }

  /** Returns what programs see. */
  static Map<String, String> of(Front front) throws IOException {
    return new Picture(
            new OfFiles(front.tree()) {
              @Override
              public Stat stat(String path) throws IOException {
                return front.stat(path);
              }
            })
        .take();
  }

  /** Returns what is in a directory. */
  static Map<String, String> of(FileTree files) throws IOException {
    return new Picture(new OfFiles(files)).take();
  }

  /** Returns what a store has durably. */
  static Map<String, String> of(Store store) throws IOException {
    return new Picture(
            new Tree() {
              @Override
              public List<FileTree.Entry> list(String path) throws IOException {
                return store.list(path);
              }

              @Override
              public Stat stat(String path) throws IOException {
                return store.stat(path);
              }

              @Override
              public String readLink(String path) throws IOException {
                return store.readLink(path);
              }

              @Override
              public byte @Nullable [] xattr(String path) throws IOException {
                return store.xattrNames(path).contains(XATTR) ? store.xattr(path, XATTR) : null;
              }

              @Override
              public int open(String path, Stat stat) throws IOException {
                return store.openToRead(path, stat);
              }
            })
        .take();
  }

  private static class OfFiles implements Tree {
    private final FileTree files;

    OfFiles(FileTree files) {
      this.files = files;
    }

    @Override
    public List<FileTree.Entry> list(String path) throws IOException {
      return files.list(path);
    }

    @Override
    public Stat stat(String path) throws IOException {
      return files.stat(path);
    }

    @Override
    public String readLink(String path) throws IOException {
      return files.readLink(path);
    }

    @Override
    public byte @Nullable [] xattr(String path) throws IOException {
      return files.xattrNames(path).contains(XATTR) ? files.xattr(path, XATTR) : null;
    }

    @Override
    public int open(String path, Stat stat) throws IOException {
      return files.open(path, Linux.O_RDONLY);
    }
  }

  private Map<String, String> take() throws IOException {
    add("");
    lines.remove(Store.OWNER);
    return lines;
  }

  private void add(String directory) throws IOException {
    List<FileTree.Entry> entries = new ArrayList<>(tree.list(directory));
    entries.sort(Comparator.comparing(FileTree.Entry::name));
    for (FileTree.Entry entry : entries) {
      String path = FileTree.child(directory, entry.name());
      Stat stat = tree.stat(path);
      String first = links.computeIfAbsent(stat.inode(), inode -> path);
      byte[] xattr = stat.isSymlink() ? null : tree.xattr(path);
      lines.put(
          path,
          "%o of %s, %d links %s %s"
              .formatted(
                  stat.mode(),
                  first,
                  stat.isDirectory() ? 0 : stat.links(),
                  xattr == null ? null : FileTree.bytesAsText(xattr),
                  content(path, stat)));
      if (stat.isDirectory()) {
        add(path);
      }
    }
  }

  private String content(String path, Stat stat) throws IOException {
    if (stat.isSymlink()) {
      return tree.readLink(path);
    }
    if (!stat.isRegular()) {
      return "";
    }
    int fd = tree.open(path, stat);
    int length = (int) stat.size();
    long memory = LIBC.malloc(length + 1L);
    FileTree.readFully(fd, memory, length, 0, path);
    int crc = OperationsLog.crc(Memory.buffer(memory, length));
    LIBC.free(memory);
    LIBC.close(fd);
    return length + " bytes " + Integer.toHexString(crc);
  }
}
