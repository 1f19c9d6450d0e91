package io.holdfast.fs.figures;

/**
 * The part of the dataset that is known. Immutable.
 *
 * @param scanned whether a scan has counted all of it
 * @param entriesLoaded the number of names that an earlier mount had left
 * @param names the number of known names, and their memory
 * @param namesElsewhereBytes bytes of that memory that had no room in the state directory
 * @param hiddenKeys keys of the store that have no path
 * @param hiddenKey one of them; empty for users who may not know names
 * @param acls how ACLs count: kernel, strict or none
 */
public record DatasetFigures(
    long files,
    long bytes,
    boolean scanned,
    long entriesLoaded,
    double scanSeconds,
    long scanAgeSeconds,
    long names,
    long namesBytes,
    long namesElsewhereBytes,
    long incompleteListings,
    long hiddenKeys,
    String hiddenKey,
    String acls) {
  private static final int PAGE = 4096;

  /**
   * Returns the whole pages that a part of the dataset takes in memory, in bytes. The last page of
   * a file is half full on average, and a file that is smaller than a page takes a page.
   *
   * @param part bytes of files
   */
  public long pagesOf(long part) {
    if (files <= 0 || bytes <= 0 || part <= 0) {
      return part;
    }
    double size = (double) bytes / files;
    double count = part / size;
    return size < PAGE ? (long) (count * PAGE) : Math.addExact(part, (long) (count * PAGE / 2));
  }

  /** Returns the bytes of the whole dataset; 0 if no scan has counted all of it. */
  public long wholeBytes() {
    return scanned ? bytes : 0;
  }

  DatasetFigures withoutNames() {
    return new DatasetFigures(
        files,
        bytes,
        scanned,
        entriesLoaded,
        scanSeconds,
        scanAgeSeconds,
        names,
        namesBytes,
        namesElsewhereBytes,
        incompleteListings,
        hiddenKeys,
        "",
        acls);
  }
}
