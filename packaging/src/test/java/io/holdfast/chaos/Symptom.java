package io.holdfast.chaos;

import java.nio.file.NoSuchFileException;

/** The effect of a fault that a reader sees, if it sees one. */
enum Symptom {
  /** EIO. */
  IO_ERROR,
  /** ESTALE: the file has another version by now. */
  STALE,
  /** ENOTCONN or ECONNABORTED: the mount is dead. */
  NOT_CONNECTED,
  /** ENOENT. */
  NOT_FOUND,
  /** SIGBUS: a page of a mapping could not be had. */
  BUS_ERROR,
  OTHER;

  /** Which one an exception of the JDK stands for. */
  static Symptom of(Throwable error) {
    String message = String.valueOf(error.getMessage());
    if (error instanceof InternalError) {
      return BUS_ERROR;
    }
    if (error instanceof NoSuchFileException || message.contains("No such file")) {
      return NOT_FOUND;
    }
    if (message.contains("Input/output error")) {
      return IO_ERROR;
    }
    if (message.contains("Stale file handle")) {
      return STALE;
    }
    return message.contains("not connected") || message.contains("connection abort")
        ? NOT_CONNECTED
        : OTHER;
  }
}
