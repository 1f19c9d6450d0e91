package io.holdfast.fs.tree;

import io.holdfast.fs.FuzzInput;
import io.holdfast.fs.linux.GrowingMemory;
import io.holdfast.fs.origin.Attributes;
import io.holdfast.fs.origin.FakeOrigin;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A state file that says anything, as it is or with checksums that are right: a tree comes out, or
 * an error, and a tree is one from which everything can be asked. Run by packaging/fuzz.
 */
public final class TreeImageFuzz {
  private static final String DATASET = "d";
  private static final long TIME = 1_800_000_000_000_000_000L;

  private TreeImageFuzz() {}

  /** One input. */
  public static void fuzzerTestOneInput(byte[] bytes) {
    FuzzInput input = new FuzzInput(bytes);
    int kind = input.next();
    byte[] image = kind < 32 ? input.rest() : repaired(kind & 31, input.rest());
    Path file = null;
    try {
      file = Files.createTempFile("image", ".tree");
      Files.write(file, image);
      read(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } finally {
      delete(file);
    }
  }

  /** Records in a block, behind a header, as they are written. */
  private static byte[] repaired(int entries, byte[] records) {
    int header = TreeImage.DATASET_AT + 1 + Integer.BYTES;
    int block = records.length == 0 ? 0 : BlockOutput.HEAD + records.length;
    ByteBuffer image = ByteBuffer.allocate(header + block).order(ByteOrder.LITTLE_ENDIAN);
    image.putLong(TreeImage.MAGIC).putInt(TreeImage.VERSION).putInt(header);
    image.putLong(entries).putLong(block).putLong(TIME);
    image.position(TreeImage.DATASET_AT).put((byte) 'd');
    image.putInt(TreeImage.checksum(image.array(), image.position()));
    if (block > 0) {
      byte[] whole = new byte[block];
      System.arraycopy(records, 0, whole, BlockOutput.HEAD, records.length);
      image.putInt(records.length);
      image.putInt(BlockOutput.checksum(TIME, 0, whole, records.length));
      image.put(records);
    }
    return image.array();
  }

  private static void read(Path file) {
    try (NodeTable nodes = new NodeTable(GrowingMemory.ofProcess("nodes"));
        TreeImage image = TreeImage.open(file, DATASET)) {
      Tree tree = new Tree(new FakeOrigin(), nodes, old -> {});
      tree.loaded(image, Moment.now());
      nodes.forEach(id -> look(nodes, id));
    } catch (IOException e) {
      if (String.valueOf(e.getMessage()).isBlank()) {
        throw new AssertionError("refused without a word", e);
      }
    }
  }

  private static void look(NodeTable nodes, long id) {
    Attributes attributes = nodes.attributes(id);
    byte[] name = nodes.name(id);
    if (id != Tree.ROOT
        && (name.length == 0 || new String(name, StandardCharsets.ISO_8859_1).contains("/"))) {
      throw new AssertionError("a name that is none");
    }
    if (attributes.size() < 0) {
      throw new AssertionError("a size below 0");
    }
  }

  private static void delete(Path file) {
    try {
      if (file != null) {
        Files.deleteIfExists(file);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
