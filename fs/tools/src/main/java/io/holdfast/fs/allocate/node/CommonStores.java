package io.holdfast.fs.allocate.node;

import io.holdfast.fs.allocate.FoundMount;
import io.holdfast.fs.allocate.Rates;
import io.holdfast.fs.linux.MountTable;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Tells which mounts read from the same bucket, file server or disk. That alone does not say that
 * they share a rate: a job with few readers waits for answers, and not for what the store can give
 * in all. So the allocation does not take it for granted, and the user is told how to say it.
 * Stateless.
 */
public final class CommonStores {
  private static final String S3 = "s3://";

  private CommonStores() {}

  /** Returns a line for each store that several mounts wait for, and that nobody has named. */
  public static List<String> notes(List<NodeMounts.Look> looks, MountTable table) {
    Map<String, List<String>> readers = new TreeMap<>();
    for (NodeMounts.Look look : looks) {
      FoundMount mount = look.mount();
      boolean waits =
          mount
              .measured()
              .map(each -> each.rates())
              .filter(rates -> rates.sharedOrigin() == null && needsMore(rates))
              .isPresent();
      if (waits && look.figures() != null) {
        store(look.figures().origin(), table)
            .ifPresent(
                store ->
                    readers.computeIfAbsent(store, key -> new ArrayList<>()).add(mount.name()));
      }
    }
    List<String> notes = new ArrayList<>();
    readers.forEach(
        (store, names) -> {
          if (names.size() > 1) {
            String last = names.remove(names.size() - 1);
            notes.add(
                "%s and %s read from the same store, %s: if it limits them, give them one 'origin:'"
                        .formatted(String.join(", ", names), last, store)
                    + " in node.yaml");
          }
        });
    return notes;
  }

  private static boolean needsMore(Rates rates) {
    return rates.demand() > rates.origin();
  }

  private static Optional<String> store(String origin, MountTable table) {
    if (origin.startsWith(S3)) {
      int end = origin.indexOf('/', S3.length());
      return Optional.of(end < 0 ? origin : origin.substring(0, end));
    }
    try {
      Path path = Path.of(origin);
      return path.isAbsolute() ? table.storeOf(path).map(CommonStores::server) : Optional.empty();
    } catch (InvalidPathException e) {
      return Optional.empty();
    }
  }

  /** Returns the server of a network filesystem, and of others what is mounted. */
  private static String server(MountTable.Mount mount) {
    int colon = mount.source().indexOf(":/");
    if (colon > 0) {
      return mount.source().substring(0, colon);
    }
    String source = mount.source();
    return source.startsWith("/") ? source : source + " " + mount.device();
  }
}
