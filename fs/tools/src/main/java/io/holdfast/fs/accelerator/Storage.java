package io.holdfast.fs.accelerator;

import java.io.Closeable;
import java.io.IOException;

/** A dataset as readers see it: files by number, each with one sample or more. */
interface Storage {
  /** Returns the number of files. */
  int files();

  /** Returns the number of samples of a file; at least 1. */
  long samples(int file);

  /** Returns a reader, which one thread uses. */
  Reader reader() throws IOException;

  /** Reads samples. Used by one thread. */
  interface Reader extends Closeable {
    /**
     * Reads a sample.
     *
     * @return its bytes; fewer if the window was over before
     * @throws IOException if the sample cannot be read, or is not there whole
     */
    long read(int file, long sample, Window window) throws IOException;
  }
}
