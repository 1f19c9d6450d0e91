package io.holdfast.model;

import java.nio.file.Path;
import java.util.List;

/**
 * A filesystem over a directory, as the operations use it. Paths are relative to its root, with
 * slashes and without one at either end; the root is the empty one.
 */
interface SystemUnderTest extends AutoCloseable {
  /** The directory that it is over. */
  Path origin();

  /** Bytes of an item of a large file. */
  int itemSize();

  /**
   * Tells whether an answer about a name may be believed until the next refresh; else each name is
   * asked for each time.
   */
  boolean believes();

  /** Whether a listing has the names of its moment, also where names are believed. */
  boolean listsTheMoment();

  /** Returns the entry as lstat shows it; an errno if nothing is there. */
  Shown look(String path);

  /** The names in a directory. */
  List<String> list(String directory) throws Refused;

  String readLink(String path) throws Refused;

  /** Opens a file; of anything else it says what the kernel says of a read. */
  Open open(String path) throws Refused;

  /** Has everything at and below a path asked for at the origin. */
  void refresh(String path) throws Refused;

  /** Gives residents another capacity, and waits until they keep to it. */
  void capacity(long bytes);

  /** Returns the bytes of residents now. */
  long residentBytes();

  /** Has the other node answer, or not. */
  void peer(boolean up);

  /** Learns what a file's content is, for a stand-in of the kernel. */
  default void hold(String path, Shown file, byte[] content) {}

  /** Waits until nothing is held of files that have gone, which all have; an error if it stays. */
  void awaitNothingHeld() throws Refused;

  @Override
  void close();

  /** A file that is open. */
  interface Open extends AutoCloseable {
    /** Returns the entry as fstat shows it. */
    Shown look() throws Refused;

    /** Bytes from an offset on: as many as were asked for, or up to the end. */
    byte[] read(long offset, int length) throws Refused;

    @Override
    void close();
  }
}
