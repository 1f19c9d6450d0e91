package io.holdfast.fs.host;

import io.holdfast.fs.control.ControlDirectory;
import io.holdfast.fs.doctor.Abilities;
import io.holdfast.fs.linux.Fstab;
import io.holdfast.fs.linux.MountTable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * The machine as the commands see it. Every method answers within some seconds, whatever state the
 * filesystems of the machine are in.
 */
public interface Host extends Abilities {
  /** The kind of thing that a look has found at a path. */
  enum PathState {
    DIRECTORY,
    /** Something else than a directory. */
    OTHER,
    MISSING,
    DENIED,
    /** On a mount whose daemon is gone. */
    NOT_CONNECTED,
    /** No answer in time. */
    HUNG,
    /** Any other error. */
    FAILED
  }

  /** Returns the user of this process. */
  int uid();

  /** Returns the environment variables. */
  Map<String, String> environment();

  /** Returns the bytes of memory that there are for this process. */
  long memory();

  /** Returns the bytes of memory that there are for another process of this machine. */
  long memory(long pid);

  /** Returns the directories where the files of this user's mounts are, the first one first. */
  List<Path> configurationDirectories();

  /** Returns the directory with the sockets of this user's daemons. */
  ControlDirectory control();

  /**
   * Returns the directories with the sockets of other users' daemons that this user can know of:
   * root those of all users who have logged in, and others root's.
   */
  List<ControlDirectory> controlOfOthers();

  /** Reads the list of mounts. */
  MountTable mounts();

  /** Reads which file systems the machine is to have. */
  Fstab fstab();

  /** Tells whether a directory that was probed has nothing in it. */
  boolean isEmpty(Path directory);

  /** Looks at a path, following symlinks. */
  PathState probe(Path path);

  /**
   * Returns the path without symlinks as far as that can be told without touching its last
   * component, which may be the root of a mount that does not answer.
   */
  Path locate(Path path);

  /** Returns the path without symlinks; for paths that were probed. */
  Path realPath(Path path) throws IOException;

  /** Tells whether a directory can be listed and entered by this user. */
  boolean canRead(Path directory);

  /** Tells whether this user may change a directory. */
  boolean canWrite(Path directory);

  /** Returns the directories that this program itself needs while it runs. */
  List<Path> ownDirectories();

  /** Takes the uppermost mount off a path, even when it is in use: its readers get errors. */
  void detach(Path mountpoint) throws IOException;

  /** Takes root's uppermost mount off a path; programs go on with what they have open there. */
  void detachLazily(Path mountpoint) throws IOException;
}
