package io.holdfast.fs.watch.live;

import io.holdfast.fs.FsException;
import io.holdfast.fs.host.OwnProcess;
import io.holdfast.fs.watch.Change;
import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;

/**
 * Prints what happens in a mount, once an interval, until it was told often enough, nobody reads
 * any more or the command is interrupted. A daemon that does not answer at first is a failure; one
 * that stops answering is told of, and asked again.
 */
public final class WatchLoop {
  private final OwnProcess process;
  private final DaemonLook look;
  private final Duration interval;
  private final long count;

  /** Shows what happened. */
  public interface Show {
    /**
     * Shows it.
     *
     * @param round how often it was tried before
     */
    String text(Change change, long round) throws IOException;
  }

  /**
   * Prepares to print.
   *
   * @param count how often; 0 for without end
   */
  public WatchLoop(OwnProcess process, DaemonLook look, Duration interval, long count) {
    this.process = process;
    this.look = look;
    this.interval = interval;
    this.count = count;
  }

  /** Prints until there is a reason to end. */
  public void run(PrintWriter out, PrintWriter err, Show show) throws IOException {
    for (long round = 0; !out.checkError(); round++) {
      try {
        out.print(show.text(look.next(), round));
        out.flush();
      } catch (FsException e) {
        if (round == 0 || !DaemonLook.mayPass(e)) {
          throw look.failure(e);
        }
        err.println("holdfast: " + look.tryingAgain(e));
        err.flush();
      }
      if (round + 1 == count || !process.pause(interval.toMillis())) {
        return;
      }
    }
  }
}
