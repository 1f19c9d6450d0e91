package io.holdfast.fs.host;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import org.jspecify.annotations.Nullable;

/**
 * The standard output of a command. Remembers why it could not be written, since the writers above
 * only know that something failed; after a failure it takes nothing any more, so that what came out
 * has no gap. Not thread-safe.
 */
public final class StandardOutput extends OutputStream {
  /** The kernel's words for a pipe that nobody reads; the launcher has them in English. */
  private static final String READER_HAS_GONE = "Broken pipe";

  private final OutputStream out;
  private @Nullable IOException failure;

  public StandardOutput(OutputStream out) {
    this.out = out;
  }

  @Override
  public void write(int singleByte) throws IOException {
    write(new byte[] {(byte) singleByte}, 0, 1);
  }

  @Override
  public void write(byte[] bytes, int offset, int length) throws IOException {
    if (failure != null) {
      throw failure;
    }
    try {
      out.write(bytes, offset, length);
    } catch (IOException e) {
      failure = e;
      throw e;
    }
  }

  /**
   * Returns the exit code of a command that has ended, and says so where its output got lost. A
   * reader that has gone, such as {@code head}, wants no more of it.
   *
   * @param exitCode the command's own
   */
  public int exitCode(int exitCode, PrintStream errors) {
    if (failure == null || String.valueOf(failure.getMessage()).contains(READER_HAS_GONE)) {
      return exitCode;
    }
    errors.println(
        "holdfast: the standard output cannot be written (%s): what was printed is not complete"
            .formatted(failure.getMessage()));
    return exitCode == 0 ? CliException.COULD_NOT : exitCode;
  }
}
