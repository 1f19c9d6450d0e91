package io.holdfast.fs.figures;

/**
 * What is known of the dataset. Immutable.
 *
 * @param scanned whether all of it was counted
 * @param entriesLoaded how many names were known from a mount before this one
 * @param names how many are known, and their memory
 * @param namesElsewhereBytes what of that found no room where it should be
 * @param hiddenKeys keys of the store that have no path
 * @param hiddenKey one of them; empty for who may not know names
 * @param acls how ACLs decide: kernel, strict or none
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
