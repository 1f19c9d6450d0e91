package io.holdfast.fs.doctor;

/** What the kernel says of a process in one letter; see proc(5). Stateless. */
public final class ProcessState {
  private ProcessState() {}

  /** Returns R, S, D, T, t, Z and so on, or a question mark where there is no such process. */
  public static char of(MachineFiles files, long pid) {
    // the name of the program stands in brackets, and may hold anything
    String stat = files.text("proc/" + pid + "/stat").orElse("");
    int name = stat.lastIndexOf(") ");
    return name < 0 || name + 2 >= stat.length() ? '?' : stat.charAt(name + 2);
  }
}
