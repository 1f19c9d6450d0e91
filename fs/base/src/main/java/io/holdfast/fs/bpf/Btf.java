package io.holdfast.fs.bpf;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * The types of a kernel, as it describes them in BTF: where the members of its structures are, and
 * the numbers of its functions. Source: {@code Documentation/bpf/btf.rst} of Linux, which has the
 * layouts.
 *
 * <pre>
 * header: 0 magic u16 = eb9f, 2 version u8 = 1, 3 flags u8, 4 length of the header u32,
 *         8 types u32, 12 their length u32, 16 names u32, 20 their length u32;
 *         types and names are counted from the header's end
 * type:   0 name u32, 4 info u32 = parts | kind &lt;&lt; 24 | flag &lt;&lt; 31, 8 size or type u32,
 *         then, by the kind, 4 bytes or so and 8 or 12 bytes a part
 * </pre>
 *
 * <p>Whatever the bytes are, each call ends with an answer or an {@link FsException}, in a time
 * that is linear in their number. Immutable; thread-safe.
 */
final class Btf {
  /** The kernel's description of itself. */
  static final Path OF_KERNEL = Path.of("/sys/kernel/btf/vmlinux");

  /** Kernels of distributions have 3 to 7 MB. */
  private static final int MOST_BYTES = 32 << 20;

  private static final int MAGIC = 0xEB9F;
  private static final int VERSION = 1;
  private static final int HEADER = 24;
  private static final int TYPE = 12;

  private static final int INT = 1;
  private static final int PTR = 2;
  private static final int ARRAY = 3;
  private static final int STRUCT = 4;
  private static final int UNION = 5;
  private static final int ENUM = 6;
  private static final int FWD = 7;
  private static final int TYPEDEF = 8;
  private static final int VOLATILE = 9;
  private static final int CONST = 10;
  private static final int RESTRICT = 11;
  private static final int FUNC = 12;
  private static final int FUNC_PROTO = 13;
  private static final int VAR = 14;
  private static final int DATASEC = 15;
  private static final int FLOAT = 16;
  private static final int DECL_TAG = 17;
  private static final int TYPE_TAG = 18;
  private static final int ENUM64 = 19;

  /** The most typedefs, consts and the like between a member and its type. */
  private static final int MOST_MODIFIERS = 16;

  /** The most that an instruction can add to an address. */
  private static final int MOST_OFFSET = Short.MAX_VALUE;

  private final ByteBuffer bytes;
  private final int names;
  private final int namesEnd;

  /** Where each type begins; the type 0 is void. */
  private final int[] types;

  /**
   * A member of a structure.
   *
   * @param offset its bytes from the structure's beginning
   */
  record Member(int offset, int type) {}

  private Btf(ByteBuffer bytes, int names, int namesEnd, int[] types) {
    this.bytes = bytes;
    this.names = names;
    this.namesEnd = namesEnd;
    this.types = types;
  }

  /**
   * Reads a file.
   *
   * @throws FsException if there is none, or it cannot be understood
   */
  static Btf read(Path file) throws FsException {
    byte[] bytes;
    try (InputStream in = Files.newInputStream(file)) {
      bytes = in.readNBytes(MOST_BYTES + 1);
    } catch (IOException e) {
      throw new FsException(FsError.UNSUPPORTED, "no BTF of this kernel: " + file, e);
    }
    if (bytes.length > MOST_BYTES) {
      throw broken("larger than " + MOST_BYTES + " bytes");
    }
    return parse(bytes);
  }

  /**
   * Finds the types in BTF.
   *
   * @throws FsException if the bytes are no BTF, or of kinds that are not known
   */
  static Btf parse(byte[] blob) throws FsException {
    ByteBuffer bytes = ByteBuffer.wrap(blob).order(ByteOrder.LITTLE_ENDIAN);
    if (blob.length < HEADER || Short.toUnsignedInt(bytes.getShort(0)) != MAGIC) {
      throw broken("it does not begin as BTF does");
    }
    if (bytes.get(2) != VERSION) {
      throw broken("its version is " + Byte.toUnsignedInt(bytes.get(2)));
    }
    long header = Integer.toUnsignedLong(bytes.getInt(4));
    long from = header + Integer.toUnsignedLong(bytes.getInt(8));
    long to = from + Integer.toUnsignedLong(bytes.getInt(12));
    long names = header + Integer.toUnsignedLong(bytes.getInt(16));
    long namesEnd = names + Integer.toUnsignedLong(bytes.getInt(20));
    if (header < HEADER || to > blob.length || namesEnd > blob.length) {
      throw broken("its parts end behind its " + blob.length + " bytes");
    }
    return new Btf(bytes, (int) names, (int) namesEnd, find(bytes, (int) from, (int) to));
  }

  private static int[] find(ByteBuffer bytes, int from, int to) throws FsException {
    int[] types = new int[1 + (to - from) / TYPE];
    int count = 1;
    int at = from;
    while (at < to) {
      if (to - at < TYPE) {
        throw broken("type %d ends behind the types".formatted(count));
      }
      int info = bytes.getInt(at + 4);
      types[count++] = at;
      long next = at + TYPE + rest(kind(info), parts(info));
      if (next > to) {
        throw broken("type %d ends behind the types".formatted(count - 1));
      }
      at = (int) next;
    }
    return Arrays.copyOf(types, count);
  }

  /** Returns the bytes behind the first twelve of a type. */
  private static long rest(int kind, int parts) throws FsException {
    return switch (kind) {
      case PTR, FWD, TYPEDEF, VOLATILE, CONST, RESTRICT, FUNC, FLOAT, TYPE_TAG -> 0;
      case INT, VAR, DECL_TAG -> 4;
      case ARRAY -> 12;
      case ENUM, FUNC_PROTO -> 8L * parts;
      case STRUCT, UNION, DATASEC, ENUM64 -> 12L * parts;
      default -> throw broken("a type is of the unknown kind " + kind);
    };
  }

  /**
   * Returns the number of a function.
   *
   * @throws FsException if the kernel has none of that name
   */
  int function(String name) throws FsException {
    byte[] wanted = name.getBytes(StandardCharsets.US_ASCII);
    for (int type = 1; type < types.length; type++) {
      if (kind(info(type)) == FUNC && isNamed(bytes.getInt(types[type]), wanted)) {
        return type;
      }
    }
    throw new FsException(FsError.UNSUPPORTED, "this kernel has no function " + name);
  }

  /**
   * Returns the type of a parameter of a function.
   *
   * @param index from 0
   */
  int parameter(int function, int index) throws FsException {
    int prototype = reference(function);
    if (kind(info(prototype)) != FUNC_PROTO || index >= parts(info(prototype))) {
      throw new FsException(
          FsError.UNSUPPORTED, "a function of this kernel has no parameter " + (index + 1));
    }
    return bytes.getInt(types[prototype] + TYPE + 8 * index + 4);
  }

  /** Returns the type that a pointer leads to. */
  int pointee(int pointer) throws FsException {
    int plain = plain(pointer);
    if (kind(info(plain)) != PTR) {
      throw broken("type %d is no pointer".formatted(pointer));
    }
    return plain(reference(plain));
  }

  /**
   * Finds a member of a structure.
   *
   * @param size the bytes that it must have
   * @throws FsException if there is none, or it is another than expected
   */
  Member member(int structure, String name, int size) throws FsException {
    int info = info(structure);
    if (kind(info) != STRUCT) {
      throw broken("type %d is no structure".formatted(structure));
    }
    byte[] wanted = name.getBytes(StandardCharsets.US_ASCII);
    for (int i = 0; i < parts(info); i++) {
      int member = types[structure] + TYPE + 12 * i;
      if (isNamed(bytes.getInt(member), wanted)) {
        int type = bytes.getInt(member + 4);
        int bits = bytes.getInt(member + 8);
        int end = bits / Byte.SIZE + size;
        // a bit field has its width in the uppermost byte, and fits no other test
        if (size(type) != size || bits < 0 || bits % Byte.SIZE != 0 || end > MOST_OFFSET) {
          throw new FsException(
              FsError.UNSUPPORTED, "this kernel's member %s is another".formatted(name));
        }
        return new Member(bits / Byte.SIZE, type);
      }
    }
    throw new FsException(FsError.UNSUPPORTED, "this kernel has no member " + name);
  }

  /** Returns the bytes that a variable of a type takes; -1 if that is not known. */
  private int size(int type) throws FsException {
    int plain = plain(type);
    return switch (plain == 0 ? 0 : kind(info(plain))) {
      case INT, STRUCT, UNION, ENUM, ENUM64, FLOAT -> reference(plain);
      case PTR -> Long.BYTES;
      default -> -1;
    };
  }

  /** Follows typedefs, consts and the like; returns 0 for void. */
  private int plain(int type) throws FsException {
    int at = type;
    for (int i = 0; i < MOST_MODIFIERS; i++) {
      switch (at == 0 ? 0 : kind(info(at))) {
        case TYPEDEF, VOLATILE, CONST, RESTRICT, TYPE_TAG -> at = reference(at);
        default -> {
          return at;
        }
      }
    }
    throw broken("type %d leads to no end".formatted(type));
  }

  private int info(int type) throws FsException {
    return bytes.getInt(checked(type) + 4);
  }

  /** Returns the number behind a type's head: another type, or a size. */
  private int reference(int type) throws FsException {
    return bytes.getInt(checked(type) + 8);
  }

  private int checked(int type) throws FsException {
    if (type <= 0 || type >= types.length) {
      throw broken("there is no type " + Integer.toUnsignedString(type));
    }
    return types[type];
  }

  /** Tells whether there is a name, with the NUL behind it, at an offset of the names. */
  private boolean isNamed(int offset, byte[] wanted) {
    long at = names + Integer.toUnsignedLong(offset);
    if (at + wanted.length >= namesEnd || bytes.get((int) at + wanted.length) != 0) {
      return false;
    }
    for (int i = 0; i < wanted.length; i++) {
      if (bytes.get((int) at + i) != wanted[i]) {
        return false;
      }
    }
    return true;
  }

  private static int kind(int info) {
    return info >>> 24 & 0x1f;
  }

  private static int parts(int info) {
    return info & 0xffff;
  }

  private static FsException broken(String what) {
    return new FsException(
        FsError.UNSUPPORTED, "the BTF of this kernel is not understood: " + what);
  }
}
