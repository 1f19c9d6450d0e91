package io.holdfast.fs.origin.s3;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.NavigableSet;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.s3.model.CommonPrefix;
import software.amazon.awssdk.services.s3.model.ListObjectsV2Response;
import software.amazon.awssdk.services.s3.model.S3Object;

/**
 * Lists any keys, as a real server does, which {@link S3ScanTest} shows. All objects have ten
 * bytes. Thread-safe.
 */
final class FakeSortedKeys implements SortedKeys {
  static final Instant TIME = Instant.parse("2026-01-02T03:04:05Z");

  private final NavigableSet<String> keys;
  private final Duration time;
  private final AtomicInteger lists = new AtomicInteger();
  private final AtomicInteger atOnce = new AtomicInteger();
  private final AtomicInteger mostAtOnce = new AtomicInteger();

  /**
   * Creates a store.
   *
   * @param time what an answer takes
   */
  FakeSortedKeys(Collection<String> keys, Duration time) {
    this.keys = new TreeSet<>(keys);
    this.time = time;
  }

  boolean has(String key) {
    return keys.contains(key);
  }

  int lists() {
    return lists.get();
  }

  int mostAtOnce() {
    return mostAtOnce.get();
  }

  @Override
  public ListObjectsV2Response list(Page page, String what) {
    lists.incrementAndGet();
    mostAtOnce.accumulateAndGet(atOnce.incrementAndGet(), Math::max);
    LockSupport.parkNanos(time.toNanos());
    try {
      return listed(page);
    } finally {
      atOnce.decrementAndGet();
    }
  }

  private ListObjectsV2Response listed(Page page) {
    List<S3Object> contents = new ArrayList<>();
    List<CommonPrefix> prefixes = new ArrayList<>();
    String prefix = page.prefix();
    String last = page.token() == null ? page.after() : page.token();
    last = last == null ? "" : last;
    boolean truncated = false;
    int limit = Math.min(page.limit(), Page.WHOLE);
    for (String key : keys.tailSet(prefix.compareTo(last) > 0 ? prefix : last)) {
      if (!key.startsWith(prefix)) {
        break;
      }
      int cut = page.delimiter() ? key.indexOf('/', prefix.length()) : -1;
      String shown = cut < 0 ? key : key.substring(0, cut + 1);
      if (shown.compareTo(last) <= 0) {
        continue;
      }
      if (contents.size() + prefixes.size() == limit) {
        truncated = true;
        break;
      }
      last = shown;
      if (cut < 0) {
        contents.add(object(key));
      } else {
        prefixes.add(CommonPrefix.builder().prefix(shown).build());
      }
    }
    return ListObjectsV2Response.builder()
        .contents(contents)
        .commonPrefixes(prefixes)
        .isTruncated(truncated)
        .nextContinuationToken(tokenOf(truncated, last))
        .build();
  }

  private static @Nullable String tokenOf(boolean truncated, String last) {
    return truncated ? last : null;
  }

  static S3Object object(String key) {
    return S3Object.builder().key(key).size(10L).lastModified(TIME).eTag("\"e\"").build();
  }
}
