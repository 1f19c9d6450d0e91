package io.holdfast.it;

import static io.holdfast.posix.Libc.LIBC;

import io.holdfast.it.Acls.User;
import io.holdfast.posix.Posix;
import io.holdfast.posix.RawPath;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;

/** Files and directories with ACLs of all kinds, and users whom the ACLs name, or do not name. */
final class AclTree {
  static final int DAEMON = 1;
  static final int BIN = 2;
  static final int NOBODY = 65_534;
  static final int OTHER = 12_345;
  private static final int RANDOM_FILES = 60;

  static final List<User> USERS =
      List.of(
          new User(DAEMON, DAEMON, "1"),
          new User(NOBODY, NOBODY, "65534"),
          new User(NOBODY, NOBODY, "65534,1"),
          new User(BIN, BIN, "2,65534"),
          new User(OTHER, OTHER, "12345"),
          new User(OTHER, OTHER, "1,2"));

  /** Without entries of their own, the mode says all. */
  private static final Map<String, String> CASES =
      Map.ofEntries(
          Map.entry("daemon-alone", "u::rw,u:1:r,g::-,m::r,o::-"),
          Map.entry("not-nobody", "u::rw,u:65534:-,g::r,m::r,o::r"),
          Map.entry("not-daemons", "u::rw,g::r,g:1:-,m::r,o::r"),
          Map.entry("group-less-than-others", "u::rw,g::-,g:1:rw,m::r,o::r"),
          Map.entry("empty-mask", "u::rw,u:65534:-,g::r,m::-,o::r"),
          Map.entry("mask-without-names", "u::rw,g::-,m::rwx,o::r"),
          Map.entry("two-groups", "u::rwx,g::-,g:1:r,g:2:x,m::rwx,o::-"),
          Map.entry("execute", "u::rwx,u:1:rx,g::x,m::rx,o::-"),
          Map.entry("in-user-dir/file", "u::rw,g::r,o::r"),
          Map.entry("in-denied-dir/file", "u::rw,g::r,o::r"),
          Map.entry("in-group-dir/file", "u::rw,u:12345:r,g::-,m::r,o::-"));

  private static final Map<String, String> DIRECTORIES =
      Map.of(
          "in-user-dir", "u::rwx,u:65534:rx,u:1:x,g::-,m::rwx,o::-",
          "in-denied-dir", "u::rwx,u:65534:-,g::rx,m::rx,o::rx",
          "in-group-dir", "u::rwx,g::-,g:1:rx,m::rx,o::x");

  private final Path root;
  private final Random random;
  private final Map<String, String> acls = new TreeMap<>();

  private AclTree(Path root, long seed) {
    this.root = root;
    this.random = new Random(seed);
  }

  /** Makes it in a directory without such names. */
  static AclTree create(Path root, long seed) {
    AclTree tree = new AclTree(root, seed);
    DIRECTORIES.keySet().forEach(tree::directory);
    CASES.forEach(tree::file);
    for (int i = 0; i < RANDOM_FILES; i++) {
      tree.file("random-" + i, tree.randomAcl());
    }
    DIRECTORIES.forEach(tree::set);
    tree.file("of-nobody", "u::-,g::r,o::r");
    tree.chown("of-nobody", NOBODY, 0);
    tree.plain("no-acl", "rw-r-----");
    return tree;
  }

  private void directory(String name) {
    try {
      Files.createDirectories(root.resolve(name));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void chown(String name, int owner, int group) {
    RawPath path = RawPath.of(root.resolve(name));
    Posix.must("chown", path, () -> LIBC.lchown(path.cString(), owner, group));
  }

  private void plain(String name, String mode) {
    try {
      Files.writeString(root.resolve(name), name);
      chown(name, 0, NOBODY);
      Files.setPosixFilePermissions(root.resolve(name), PosixFilePermissions.fromString(mode));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void file(String name, String acl) {
    plain(name, "rw-------");
    set(name, acl);
  }

  private void set(String name, String acl) {
    acls.put(name, acl);
    Acls.set(root.resolve(name), acl);
  }

  private String randomAcl() {
    List<String> entries = new ArrayList<>(List.of("u::" + rights()));
    List.of(DAEMON, BIN, NOBODY).stream()
        .filter(uid -> random.nextInt(3) == 0)
        .forEach(uid -> entries.add("u:" + uid + ":" + rights()));
    entries.add("g::" + rights());
    List.of(DAEMON, BIN, OTHER).stream()
        .filter(gid -> random.nextInt(3) == 0)
        .forEach(gid -> entries.add("g:" + gid + ":" + rights()));
    entries.add("m::" + rights());
    entries.add("o::" + rights());
    return String.join(",", entries);
  }

  private String rights() {
    return List.of("-", "r", "rx", "x", "rwx").get(random.nextInt(5));
  }

  List<String> paths() {
    List<String> all = new ArrayList<>(acls.keySet());
    all.add("no-acl");
    return all;
  }

  /** The ACL that an entry was given, for messages. */
  String acl(String path) {
    return acls.getOrDefault(path, "none");
  }

  Path root() {
    return root;
  }
}
