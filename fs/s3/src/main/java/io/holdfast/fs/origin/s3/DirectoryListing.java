package io.holdfast.fs.origin.s3;

import io.holdfast.fs.origin.Attributes;
import io.holdfast.fs.origin.Origin.EntrySink;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import software.amazon.awssdk.services.s3.model.CommonPrefix;
import software.amazon.awssdk.services.s3.model.ListObjectsV2Response;
import software.amazon.awssdk.services.s3.model.S3Object;

/**
 * The entries of one directory, from listings with a delimiter. A file with the name of a directory
 * is hidden, and the directory may come many keys later: {@code a} is followed by {@code a-1},
 * {@code a.txt} and so on, then by {@code a/}. So a file waits as long as keys begin with its own
 * key. Used by one thread.
 */
final class DirectoryListing {
  private final Entries entries;
  private final String prefix;
  private final EntrySink sink;

  /** Files whose name may still prove to be a directory's. */
  private List<S3Object> waiting = new ArrayList<>();

  private boolean empty = true;

  DirectoryListing(Entries entries, String prefix, EntrySink sink) {
    this.entries = entries;
    this.prefix = prefix;
    this.sink = sink;
  }

  /**
   * Takes the next page of the listing. Some stores list the key of an empty directory like a file.
   */
  void page(ListObjectsV2Response page) {
    Set<String> directories = new LinkedHashSet<>();
    String lastDirectory = "";
    for (CommonPrefix each : page.commonPrefixes()) {
      lastDirectory = each.prefix();
      directories.add(lastDirectory.substring(0, lastDirectory.length() - 1));
    }
    List<S3Object> files = new ArrayList<>(waiting);
    String lastFile = "";
    for (S3Object each : page.contents()) {
      lastFile = each.key();
      int slash = lastFile.indexOf('/', prefix.length());
      if (slash < 0) {
        files.add(each);
      } else {
        directories.add(lastFile.substring(0, slash));
      }
    }
    for (String key : directories) {
      if (isName(key)) {
        pass(key, entries.directory(key));
      }
    }
    waiting = new ArrayList<>();
    for (S3Object each : files) {
      String key = each.key();
      if (directories.contains(key) || !isName(key)) {
        continue;
      }
      if (lastDirectory.startsWith(key) || lastFile.startsWith(key)) {
        waiting.add(each);
      } else {
        pass(each);
      }
    }
    empty &= page.contents().isEmpty() && page.commonPrefixes().isEmpty();
  }

  private boolean isName(String key) {
    return KeyNames.isName(key.substring(prefix.length()));
  }

  /** Passes the files that still wait, after the last page; returns whether there were any keys. */
  boolean end() {
    waiting.forEach(this::pass);
    return !empty;
  }

  private void pass(S3Object file) {
    pass(file.key(), entries.file(file.key(), file.size(), file.lastModified(), file.eTag()));
  }

  private void pass(String key, Attributes attributes) {
    byte[] name = KeyNames.nameBytes(key.substring(prefix.length()));
    sink.entry(name, attributes.type(), attributes.inode(), attributes);
  }
}
