package io.holdfast.it;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * A memory control group, of version 1 or 2, whichever the machine has. It goes with its sandbox.
 */
final class MemoryCgroup {
  private final Path folder;
  private final boolean unified;
  private final Sandbox sandbox;

  private MemoryCgroup(Sandbox sandbox, Path folder, boolean unified) {
    this.sandbox = sandbox;
    this.folder = folder;
    this.unified = unified;
    make();
    sandbox.atEnd(this::remove);
  }

  /**
   * A new group at the top of the machine's groups; the file system of groups is mounted when it is
   * not.
   */
  static MemoryCgroup create(Sandbox sandbox, String name) {
    String group = sandbox.id() + "-" + name;
    for (MountTable.Row row : MountTable.rows()) {
      Path top = Path.of(row.mountpoint());
      if (row.type().equals("cgroup") && row.superOptions().matches("(.*,)?memory(,.*)?")) {
        return new MemoryCgroup(sandbox, top.resolve(group), false);
      }
      if (row.type().equals("cgroup2")
          && read(top.resolve("cgroup.controllers")).contains("memory")) {
        return unified(sandbox, top, group);
      }
    }
    Path top = sandbox.folder("cgroup");
    if (sandbox.command("mount", "-t", "cgroup2", "none", top.toString()).exit() == 0) {
      if (read(top.resolve("cgroup.controllers")).contains("memory")) {
        return unified(sandbox, top, group);
      }
      sandbox.command("umount", top.toString()).mustSucceed();
    }
    sandbox.command("mount", "-t", "cgroup", "-o", "memory", "none", top.toString()).mustSucceed();
    return new MemoryCgroup(sandbox, top.resolve(group), false);
  }

  private static MemoryCgroup unified(Sandbox sandbox, Path top, String group) {
    write(top.resolve("cgroup.subtree_control"), "+memory");
    return new MemoryCgroup(sandbox, top.resolve(group), true);
  }

  /** A group inside this one. This one then holds no process of its own. */
  MemoryCgroup child(String name) {
    if (unified) {
      write(folder.resolve("cgroup.subtree_control"), "+memory");
    }
    return new MemoryCgroup(sandbox, folder.resolve(name), unified);
  }

  /** Limits what the group and those inside it may take. */
  void limit(long bytes) {
    write(folder.resolve(unified ? "memory.max" : "memory.limit_in_bytes"), Long.toString(bytes));
  }

  /** The end of its path. */
  String name() {
    return "/" + folder.getFileName();
  }

  /** A command in front of another one, which then runs in this group. */
  List<String> enter() {
    return List.of(
        "sh", "-c", "echo $$ > " + folder.resolve("cgroup.procs") + " && exec \"$@\"", "sh");
  }

  /** Runs a command in this group to its end; an error when it does not succeed. */
  void run(String... command) {
    List<String> all = new ArrayList<>(enter());
    all.addAll(List.of(command));
    sandbox.run(Map.of(), all).mustSucceed();
  }

  /** Reads all files below a folder to their ends, in this group. */
  void readAll(Path below) {
    String all = "find \"$1\" -type f -print0 | xargs -0 cat | cksum";
    run("sh", "-c", all, "sh", below.toString());
  }

  /** Bytes of the page cache that are charged to this group. */
  long fileBytes() {
    return stat(unified ? "file" : "total_cache");
  }

  /** Bytes charged to this group that the kernel cannot take back. */
  long unevictableBytes() {
    return stat(unified ? "unevictable" : "total_unevictable");
  }

  /** Pages of files that this group's processes read again after the kernel had taken them back. */
  long refaultedFilePages() {
    return stat(unified ? "workingset_refault_file" : "total_workingset_refault_file");
  }

  /** Bytes charged to this group now, page cache included. */
  long usedBytes() {
    String file = unified ? "memory.current" : "memory.usage_in_bytes";
    return Long.parseLong(read(folder.resolve(file)).strip());
  }

  /** How many processes were killed because the group had no more memory. */
  long kills() {
    return figure(unified ? "memory.events" : "memory.oom_control", "oom_kill");
  }

  private long stat(String key) {
    return figure("memory.stat", key);
  }

  /** Returns a figure of the group, such as one of memory.stat. */
  long figure(String file, String key) {
    Map<String, Long> figures =
        read(folder.resolve(file))
            .lines()
            .map(line -> line.split(" ", 2))
            .collect(Collectors.toMap(f -> f[0], f -> Long.parseLong(f[1])));
    Long value = figures.get(key);
    if (value == null) {
      throw new AssertionError("no " + key + " in " + figures);
    }
    return value;
  }

  /** A group goes when its last process has. */
  private void remove() {
    Await.until(Sandbox.END_DEADLINE, "empty group " + folder, () -> folder.toFile().delete());
  }

  private void make() {
    try {
      Files.createDirectory(folder);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void write(Path file, String text) {
    try {
      Files.writeString(file, text);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
