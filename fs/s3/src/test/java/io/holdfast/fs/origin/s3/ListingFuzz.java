package io.holdfast.fs.origin.s3;

import io.holdfast.fs.FsException;
import io.holdfast.fs.FuzzInput;
import io.holdfast.fs.origin.Attributes;
import io.holdfast.fs.origin.OriginPath;
import io.holdfast.fs.origin.ScanRecord;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.s3.model.CommonPrefix;
import software.amazon.awssdk.services.s3.model.ListObjectsV2Response;
import software.amazon.awssdk.services.s3.model.S3Object;

/**
 * A store that answers listings with anything: each ends, with a tree of good names or an error.
 * Run by packaging/fuzz.
 */
public final class ListingFuzz {
  /** More than any input has pages for. */
  private static final int MOST_LISTS = 10_000;

  private static final S3Settings SETTINGS =
      new S3Settings(
          S3Location.parse("s3://bucket/p"),
          null,
          null,
          false,
          true,
          false,
          0644,
          0755,
          0,
          0,
          Duration.ofSeconds(1));

  private ListingFuzz() {}

  /** One input. */
  public static void fuzzerTestOneInput(byte[] bytes) {
    scan(bytes);
    list(bytes);
  }

  private static void scan(byte[] bytes) {
    ScanRecord record = new ScanRecord();
    S3Scan.Target target = new S3Scan.Target(OriginPath.ROOT, "p/");
    new S3Scan(store(bytes), new Entries(SETTINGS), target, Runnable::run, record).run();
    require(record.wrong.isEmpty(), record.wrong.toString());
    record.entries.keySet().forEach(ListingFuzz::requirePath);
  }

  private static void list(byte[] bytes) {
    DirectoryListing listing =
        new DirectoryListing(
            new Entries(SETTINGS),
            "p/",
            (name, type, inode, attributes) -> {
              requirePath(OriginPath.ROOT.child(name).toString());
              require(attributes.isDirectory() == (type == Attributes.DIRECTORY), "its type");
            });
    SortedKeys store = store(bytes);
    String token = null;
    try {
      do {
        ListObjectsV2Response page = store.list(SortedKeys.Page.directory("p/", token), "p");
        listing.page(page);
        token = Boolean.TRUE.equals(page.isTruncated()) ? page.nextContinuationToken() : null;
      } while (token != null);
      listing.end();
    } catch (FsException e) {
      // that is what should become of most
    }
  }

  private static void requirePath(String path) {
    for (String part : path.split("/", -1)) {
      boolean root = path.equals(".");
      require(root || KeyNames.isName(part) || !part.chars().allMatch(c -> c < 128), path);
    }
  }

  private static void require(boolean holds, String what) {
    if (!holds) {
      throw new AssertionError(what);
    }
  }

  private static SortedKeys store(byte[] bytes) {
    FuzzInput input = new FuzzInput(bytes);
    int[] lists = {0};
    return new CheckedKeys(
        (page, what) -> {
          require(++lists[0] < MOST_LISTS, "it lists for ever");
          return page(input, page);
        });
  }

  private static ListObjectsV2Response page(FuzzInput input, SortedKeys.Page page) {
    List<S3Object> contents = new ArrayList<>();
    List<CommonPrefix> prefixes = new ArrayList<>();
    int flags = input.next();
    for (int i = flags & 15; i > 0; i--) {
      contents.add(object(input));
    }
    for (int i = flags >> 4 & 3; i > 0 && page.delimiter(); i--) {
      prefixes.add(CommonPrefix.builder().prefix(key(input)).build());
    }
    return ListObjectsV2Response.builder()
        .contents(contents)
        .commonPrefixes(prefixes)
        .isTruncated((flags & 64) != 0)
        .nextContinuationToken((flags & 128) != 0 ? input.text() : null)
        .build();
  }

  private static S3Object object(FuzzInput input) {
    int flags = input.next();
    return S3Object.builder()
        .key(key(input))
        .size((flags & 1) == 0 ? Long.valueOf(10) : size(input, flags))
        .lastModified((flags & 4) == 0 ? Instant.ofEpochSecond(input.next()) : time(input, flags))
        .eTag((flags & 16) == 0 ? "\"e\"" : input.text())
        .build();
  }

  private static @Nullable Long size(FuzzInput input, int flags) {
    return (flags & 2) == 0 ? Long.valueOf(input.number()) : null;
  }

  private static @Nullable Instant time(FuzzInput input, int flags) {
    return (flags & 8) == 0 ? Instant.ofEpochMilli(input.number()) : null;
  }

  private static @Nullable String key(FuzzInput input) {
    int kind = input.next();
    return kind == 255 ? null : (kind > 200 ? "" : "p/") + input.text();
  }
}
