package io.holdfast.fs.linux;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * The groups that a distribution makes for one user each. What such a group may do only its user
 * may do, so Debian and Red Hat give these users the umask 0002. This class reads {@code
 * /etc/passwd} and {@code /etc/group} only: a group of a directory service is never private.
 * Immutable.
 */
final class PrivateGroups {
  private static final int USER_FIELDS = 4;
  private static final int GROUP_FIELDS = 3;

  private final List<String[]> users;
  private final List<String[]> groups;

  private PrivateGroups(List<String[]> users, List<String[]> groups) {
    this.users = users;
    this.groups = groups;
  }

  /** Reads the lines of passwd(5) and group(5). */
  static PrivateGroups parse(List<String> passwd, List<String> group) {
    return new PrivateGroups(fields(passwd, USER_FIELDS), fields(group, GROUP_FIELDS));
  }

  private static List<String[]> fields(List<String> lines, int least) {
    return lines.stream()
        .map(line -> line.split(":", -1))
        .filter(fields -> fields.length >= least)
        .toList();
  }

  /** Returns those of this machine; none where its files cannot be read. */
  static PrivateGroups ofMachine() {
    try {
      return parse(lines("/etc/passwd"), lines("/etc/group"));
    } catch (IOException e) {
      return parse(List.of(), List.of());
    }
  }

  private static List<String> lines(String file) throws IOException {
    return Files.readAllLines(Path.of(file), StandardCharsets.ISO_8859_1);
  }

  /** Tells whether a group has the number and the name of a user, and no other member. */
  boolean isPrivate(int user, int group) {
    if (user != group) {
      return false;
    }
    String number = Integer.toString(user);
    List<String> names =
        users.stream().filter(each -> each[2].equals(number)).map(each -> each[0]).toList();
    List<String[]> same = groups.stream().filter(each -> each[2].equals(number)).toList();
    return names.size() == 1
        && !same.isEmpty()
        && same.stream().allMatch(each -> isOf(names.get(0), each))
        && users.stream().noneMatch(each -> each[3].equals(number) && !each[2].equals(number));
  }

  private static boolean isOf(String user, String[] group) {
    String members = group.length > GROUP_FIELDS ? group[GROUP_FIELDS].strip() : "";
    return group[0].equals(user) && (members.isEmpty() || members.equals(user));
  }
}
