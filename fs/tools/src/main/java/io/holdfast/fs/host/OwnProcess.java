package io.holdfast.fs.host;

import io.holdfast.fs.linux.Exec;
import io.holdfast.fs.linux.Linux;
import io.holdfast.fs.linux.Procfs;
import io.holdfast.fs.linux.SystemCallFilter;
import io.holdfast.fs.linux.TerminalWidth;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;

/**
 * The process of a command, and the machine that it runs on: its pauses and its end, its terminal,
 * and what it may become. Tests put in their own.
 */
public class OwnProcess {
  private final Host host;

  public OwnProcess(Host host) {
    this.host = host;
  }

  public Host host() {
    return host;
  }

  /** Runs a thread when this process is told to end. */
  public void atExit(Thread thread) {
    Runtime.getRuntime().addShutdownHook(thread);
  }

  /** Takes {@link #atExit} back. */
  public void forgetAtExit(Thread thread) {
    try {
      Runtime.getRuntime().removeShutdownHook(thread);
    } catch (IllegalStateException e) {
      // It is running already.
    }
  }

  /** Waits; tells whether to go on. */
  public boolean pause(long millis) {
    try {
      Thread.sleep(millis);
      return true;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /** Returns the words that start a supervisor, but for its argument. */
  public List<String> supervisorCommand() {
    String home = System.getProperty("holdfast.home");
    if (home == null) {
      throw CliException.couldNot(
          "the supervisor cannot be found from here: start bin/holdfast, or use"
              + " --binding jnr-fuse");
    }
    return List.of(Path.of(home, "bin/holdfast-supervise").toString());
  }

  /** Becomes another program; returns only where that fails, with an error number. */
  public int become(List<String> words) {
    return Exec.become(words.stream().map(Linux::pathBytes).toList(), Set.of());
  }

  /**
   * Becomes the command that this process's last words are, with all that this process had from its
   * caller; returns only where that fails, with an error number.
   *
   * @param words how many words the command has
   */
  public int becomeCommand(int words) {
    Caller caller = Caller.of(System.getenv());
    if (caller != null) {
      caller.restore();
    }
    Procfs.host().status(Procfs.SELF).mask("SigBlk").ifPresent(Exec::setBlockedSignals);
    List<byte[]> all;
    try {
      all = Procfs.ownWords();
    } catch (IOException e) {
      throw CliException.couldNot("/proc/self cannot be read: mount /proc", e);
    }
    return Exec.become(
        all.subList(all.size() - words, all.size()),
        caller == null ? Set.of() : caller.descriptors());
  }

  /**
   * Puts this thread, and what it becomes, under a filter of system calls; returns 0, or the error
   * number with which the kernel refused.
   */
  public int filterSystemCalls() {
    return SystemCallFilter.install();
  }

  /** Returns the columns that the terminal of the error output has now; 0 where it is none. */
  public int errColumns() {
    return isTerminal(2) ? TerminalWidth.of(2) : 0;
  }

  /** Tells whether a descriptor of this process is a terminal. */
  public boolean isTerminal(int descriptor) {
    try {
      String target = Files.readSymbolicLink(Path.of("/proc/self/fd/" + descriptor)).toString();
      return target.startsWith("/dev/pts/")
          || target.startsWith("/dev/tty")
          || target.equals("/dev/console");
    } catch (IOException e) {
      return false;
    }
  }

  /** Tells whether a terminal sends its Ctrl-C to this process. */
  public boolean isInForeground() {
    try {
      String stat = Files.readString(Path.of("/proc/self/stat"));
      // behind the command's name: state, parent, group, session, terminal, the terminal's group
      String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", 7);
      return fields[2].equals(fields[5]);
    } catch (IOException e) {
      return false;
    }
  }

  /** Returns the colours for what is printed. */
  public Colors colors() {
    return Colors.of(isTerminal(1), System.getenv());
  }
}
