package io.holdfast.fs.origin.s3;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.Await;
import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.Seeds;
import io.holdfast.fs.linux.GrowingMemory;
import io.holdfast.fs.origin.Attributes;
import io.holdfast.fs.origin.OriginPath;
import io.holdfast.fs.origin.S3Store;
import io.holdfast.fs.origin.ScanRecord;
import io.holdfast.fs.origin.SharedS3Server;
import io.holdfast.fs.tree.Moment;
import io.holdfast.fs.tree.NodeTable;
import io.holdfast.fs.tree.Tree;
import io.holdfast.fs.tree.TreePass;
import io.holdfast.fs.tree.TreeScan;
import io.holdfast.s3server.Fault;
import io.holdfast.s3server.ForwardingProxy;
import io.holdfast.s3server.Request;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.services.s3.model.ListObjectsV2Response;
import software.amazon.awssdk.services.s3.model.S3Object;

/** Listings: how keys become a tree, and what that costs. */
@ExtendWith(SharedS3Server.class)
final class S3ScanTest {
  private static final int KEYS = 100_000;

  /** The number of requests at a thousand keys each, and a tenth more. */
  private static final int MOST_LISTS = KEYS / 1000 * 11 / 10;

  private static S3Origin open(FakeS3 store) throws FsException {
    return S3Origin.open(
        SharedS3Server.settings(store.endpoint(), "s3://bucket/data", Await.LONGEST));
  }

  private static ScanRecord scan(S3Origin origin, String directory) throws FsException {
    ScanRecord record = new ScanRecord();
    OriginPath path = OriginPath.of(directory);
    if (!directory.isEmpty()) {
      record.entries.put(directory, origin.stat(path));
    }
    ExecutorService threads = Executors.newFixedThreadPool(16);
    try {
      origin.scan(path, threads, record);
    } finally {
      threads.shutdown();
    }
    assertThat(record.wrong).isEmpty();
    return record;
  }

  /** Names of files as datasets have them: numbered in one directory, or in many. */
  @ParameterizedTest
  @ValueSource(strings = {"img_%2$07d.jpg", "n%1$08d/n%1$08d_%3$d.JPEG", "%4$016x"})
  void scan_hundredThousandKeys_takesFewListsAndSeveralAtOnce(String pattern) throws IOException {
    List<String> keys = new ArrayList<>();
    for (int i = 0; i < KEYS; i++) {
      String name = String.format(pattern, i / 100, i, i % 100, i * 0x9E3779B97F4A7C15L);
      keys.add("data/train/" + name);
    }
    FakeSortedKeys store = new FakeSortedKeys(keys, Duration.ofMillis(5));
    ScanRecord record = scan(store);
    System.out.println(
        pattern + ": " + store.lists() + " LISTs, at most " + store.mostAtOnce() + " at once");
    assertThat(record.files()).isEqualTo(KEYS);
    assertThat(store.lists()).isLessThanOrEqualTo(MOST_LISTS);
    assertThat(store.mostAtOnce()).isGreaterThan(2);
    assertThat(record.failed).isEmpty();
    record.entries.values().removeIf(each -> !each.isDirectory());
    assertThat(record.complete).isEqualTo(record.entries.keySet());
  }

  private static ScanRecord scan(SortedKeys store) {
    ScanRecord record = new ScanRecord();
    S3Settings settings =
        SharedS3Server.settings(
            URI.create("http://none.invalid"), "s3://bucket/data", Await.LONGEST);
    S3Scan.Target target = new S3Scan.Target(OriginPath.ROOT, "data/");
    ExecutorService threads = Executors.newFixedThreadPool(16);
    try {
      assertThat(new S3Scan(store, new Entries(settings), target, threads, record).run()).isTrue();
    } finally {
      threads.shutdown();
    }
    assertThat(record.wrong).isEmpty();
    return record;
  }

  @Test
  void keys_thatAreNoPaths_followTheRulesEverywhere() throws IOException {
    String longest = "l".repeat(255);
    List<String> keys = new ArrayList<>();
    for (String each :
        List.of(
            "",
            "plain",
            "both",
            "both-1",
            "both.txt",
            "both/below",
            "marker/",
            "sub/marker/",
            "//top",
            "hidden//below",
            "dots/./a",
            "dots/../b",
            ".",
            "..",
            "../c",
            "nul\0name",
            "bad\uFFFDname",
            longest,
            longest + "x",
            longest + "x/below",
            "in/" + longest + "x/a",
            "ends/with/slash/",
            "double//",
            "a&<b>",
            "ctl\u0001",
            "sp ace+",
            "smile\uD83D\uDE00")) {
      keys.add("data/" + each);
    }
    keys.add("database");
    Map<String, Boolean> expected = new TreeMap<>();
    for (String file :
        List.of("plain", "both-1", "both.txt", "both/below", longest, "a&<b>", "ctl\u0001")) {
      expected.put(file, false);
    }
    expected.put("sp ace+", false);
    expected.put("smile\uD83D\uDE00", false);
    for (String directory :
        List.of(
            "both",
            "marker",
            "sub",
            "sub/marker",
            "hidden",
            "dots",
            "in",
            "ends",
            "ends/with",
            "ends/with/slash",
            "double")) {
      expected.put(directory, true);
    }
    try (FakeS3 store = new FakeS3(keys);
        S3Origin origin = open(store)) {
      ScanRecord record = scan(origin, "");
      Map<String, Boolean> listed = new TreeMap<>();
      walk(origin, OriginPath.ROOT, listed);
      assertThat(listed).isEqualTo(expected);
      record.entries.remove(".");
      Map<String, Boolean> scanned = new TreeMap<>();
      record.entries.forEach((path, each) -> scanned.put(path, each.isDirectory()));
      assertThat(scanned).isEqualTo(expected);
      assertThat(record.hidden).containsExactlyInAnyOrderElementsOf(hiddenOf(keys, expected));
      assertThat(record.hidden)
          .contains("data/both", "data/hidden//below", "data/dots/../b", "data/.")
          .contains("data/" + longest + "x")
          .doesNotContain("data/", "data/marker/", "data/both-1");
      for (Map.Entry<String, Attributes> each : record.entries.entrySet()) {
        assertThat(origin.stat(OriginPath.of(each.getKey()))).isEqualTo(each.getValue());
      }
      for (String hidden :
          List.of("hidden//below", "dots/.", "nul\0name", "bad\uFFFDname", "marker/", "both/")) {
        assertMissing(origin, hidden, FsError.NOT_FOUND);
      }
      assertMissing(origin, "dots/../b", FsError.SYMLINK);
      assertMissing(origin, longest + "x", FsError.NAME_TOO_LONG);
    }
  }

  private static void assertMissing(S3Origin origin, String path, FsError code) {
    io.holdfast.fs.Failures.assertFails(() -> origin.stat(OriginPath.of(path)), code);
  }

  private static void walk(S3Origin origin, OriginPath directory, Map<String, Boolean> found)
      throws FsException {
    List<OriginPath> within = new ArrayList<>();
    origin.list(
        directory,
        (name, type, inode, attributes) -> {
          OriginPath path = directory.child(name);
          assertThat(found.put(path.toString(), type == Attributes.DIRECTORY)).isNull();
          if (type == Attributes.DIRECTORY) {
            within.add(path);
          }
        });
    for (OriginPath each : within) {
      walk(origin, each, found);
    }
  }

  /** Names of few characters, so that many begin with others, of files and directories alike. */
  @Test
  void scan_randomKeys_isTheSameAsListing() throws IOException {
    Random random = new Random(Seeds.next("scan_randomKeys"));
    TreeSet<String> keys = new TreeSet<>();
    String characters = "ab01-. //";
    for (int i = 0; i < 30_000; i++) {
      StringBuilder key = new StringBuilder("data/");
      for (int length = 1 + random.nextInt(9); length > 0; length--) {
        key.append(characters.charAt(random.nextInt(characters.length())));
      }
      keys.add(key.toString());
    }
    FakeSortedKeys store = new FakeSortedKeys(keys, Duration.ofMillis(1));
    ScanRecord record = scan(store);
    assertThat(store.mostAtOnce()).isGreaterThan(1);
    record.entries.remove(".");
    Map<String, Boolean> scanned = new TreeMap<>();
    record.entries.forEach((path, each) -> scanned.put(path, each.isDirectory()));
    Map<String, Boolean> expected = expectedOf(keys);
    assertThat(scanned).isEqualTo(expected);
    assertThat(record.hidden).containsExactlyInAnyOrderElementsOf(hiddenOf(keys, expected));
    Map<String, Boolean> listed = new TreeMap<>();
    try (FakeS3 server = new FakeS3(List.copyOf(keys));
        S3Origin origin = open(server)) {
      origin.list(
          OriginPath.ROOT,
          (name, type, inode, attributes) ->
              listed.put(OriginPath.of(name).toString(), type == Attributes.DIRECTORY));
    }
    expected.keySet().removeIf(path -> path.contains("/"));
    assertThat(listed).isEqualTo(expected);
  }

  /** The rules once more, one key after the other. */
  private static Map<String, Boolean> expectedOf(Iterable<String> keys) {
    Map<String, Boolean> expected = new TreeMap<>();
    for (String key : keys) {
      String[] parts = key.substring("data/".length()).split("/", -1);
      String path = "";
      for (int i = 0; i < parts.length && KeyNames.isName(parts[i]); i++) {
        path += (i == 0 ? "" : "/") + parts[i];
        expected.merge(path, i < parts.length - 1, Boolean::logicalOr);
      }
    }
    return expected;
  }

  /** Keys that are neither a file nor a directory that is shown. */
  private static List<String> hiddenOf(Iterable<String> keys, Map<String, Boolean> shown) {
    List<String> hidden = new ArrayList<>();
    for (String key : keys) {
      if (!key.startsWith("data/") || key.equals("data/")) {
        continue;
      }
      String path = key.substring("data/".length());
      boolean directory = path.endsWith("/");
      Boolean found = shown.get(directory ? path.substring(0, path.length() - 1) : path);
      if (found == null || found != directory) {
        hidden.add(key);
      }
    }
    return hidden;
  }

  @Test
  void scan_ofOneDirectory_passesWhatIsBelowIt() throws IOException {
    try (FakeS3 store = new FakeS3(List.of("data/a/x", "data/a/b/y", "data/ab", "data/c"));
        S3Origin origin = open(store)) {
      ScanRecord record = scan(origin, "a");
      assertThat(record.entries.keySet())
          .containsExactlyInAnyOrder(".", "a", "a/x", "a/b", "a/b/y");
      assertThat(record.complete).containsExactlyInAnyOrder("a", "a/b");
      io.holdfast.fs.Failures.assertFails(() -> scan(origin, "c"), FsError.NOT_DIRECTORY);
      io.holdfast.fs.Failures.assertFails(() -> scan(origin, "none"), FsError.NOT_FOUND);
    }
  }

  /** A scan that failed is never complete. */
  @Test
  void scan_storeThatFailsInTheMiddle_saysSo() throws IOException {
    List<String> keys = new ArrayList<>();
    for (int i = 0; i < 20_000; i++) {
      keys.add(String.format("data/d%02d/f%05d", i / 1000, i));
    }
    try (FakeS3 store = new FakeS3(keys);
        ForwardingProxy proxy = ForwardingProxy.start(store.endpoint());
        S3Origin origin =
            S3Origin.open(
                SharedS3Server.settings(proxy.endpoint(), "s3://bucket/data", Await.LONGEST))) {
      proxy.disturb(
          request -> request.target().contains("d07"), 1000, new Fault.Answer(403, "AccessDenied"));
      ScanRecord record = scan(origin, "");
      assertThat(record.failed).containsKey(".");
      assertThat(record.failed.get(".").code()).isEqualTo(FsError.UNAVAILABLE);
      assertThat(record.complete).contains("d00", "d05").doesNotContain(".", "d07", "d08");
    }
  }

  /**
   * A refresh with a key that had been revoked looked at nothing, and told that all was the same.
   */
  @Test
  void pass_listingsAreRefused_isNotWhole() throws IOException {
    try (FakeS3 store = new FakeS3(List.of("data/a/x", "data/b/y", "data/c"));
        ForwardingProxy proxy = ForwardingProxy.start(store.endpoint());
        S3Origin origin =
            S3Origin.open(
                SharedS3Server.settings(proxy.endpoint(), "s3://bucket/data", Await.LONGEST));
        NodeTable nodes = new NodeTable(GrowingMemory.ofProcess("nodes"))) {
      Tree tree = new Tree(origin, nodes, old -> {});
      pass(origin, tree).requireWhole();
      proxy.disturb(Request::isList, Integer.MAX_VALUE, new Fault.Answer(403, "AccessDenied"));
      TreePass refused = pass(origin, tree);
      io.holdfast.fs.Failures.assertFails(refused::requireWhole, FsError.UNAVAILABLE);
    }
  }

  private static TreePass pass(S3Origin origin, Tree tree) throws FsException {
    TreePass pass = new TreePass(tree, Moment.now(), TreePass.ChangeSink.NONE);
    ExecutorService threads = Executors.newFixedThreadPool(2);
    try {
      new TreeScan(origin, tree, threads).run(tree.root(), pass, (in, name, is) -> {}, () -> true);
    } finally {
      threads.shutdown();
    }
    return pass;
  }

  /** A page without a body ended its range as the last one, and all names behind it were gone. */
  @Test
  void scan_answerThatIsNoListing_fails() throws IOException {
    try (FakeS3 store = new FakeS3(threePages());
        ForwardingProxy proxy = ForwardingProxy.start(store.endpoint());
        S3Origin origin =
            S3Origin.open(
                SharedS3Server.settings(proxy.endpoint(), "s3://bucket/data", Await.LONGEST))) {
      proxy.disturb(
          request -> request.isList() && request.target().contains("start-after"),
          1,
          new Fault.OtherBody(""));
      ScanRecord record = scan(origin, "");
      assertThat(record.failed).containsOnlyKeys(".");
      assertThat(record.failed.get(".")).hasMessageContaining("does not say whether it is whole");
      assertThat(record.complete).isEmpty();
    }
  }

  /** Both keys arrive as the same text, and the whole bucket was refused. */
  @Test
  void scan_twoKeysThatAreNoUtf8_hidesThem() {
    FakeSortedKeys store = new FakeSortedKeys(List.of("data/a", "data/b"), Duration.ZERO);
    S3Object replaced = FakeSortedKeys.object("data/a\uFFFD.jpg");
    ScanRecord record =
        scan(
            new CheckedKeys(
                (page, what) -> {
                  List<S3Object> keys = new ArrayList<>(store.list(page, what).contents());
                  keys.addAll(1, List.of(replaced, replaced));
                  return ListObjectsV2Response.builder().contents(keys).isTruncated(false).build();
                }));
    assertThat(record.failed).isEmpty();
    assertThat(record.complete).containsOnly(".");
    assertThat(record.entries).containsOnlyKeys(".", "a", "b");
    assertThat(record.hidden).containsExactly(replaced.key(), replaced.key());
  }

  /**
   * The store has a byte E9 where the scan has EF BF BD, so the names in between would be missing.
   */
  @Test
  void scan_lastKeyOfAPageIsNoUtf8_goesOnBehindIt() {
    List<String> sent = new ArrayList<>(threePages());
    sent.set(999, "data/f00998\u00E9");
    FakeSortedKeys store = new FakeSortedKeys(sent, Duration.ZERO);
    ScanRecord record =
        scan(
            new CheckedKeys(
                (page, what) -> {
                  boolean guessed = page.token() == null && isReplaced(page.after());
                  return guessed
                      ? store.list(SortedKeys.Page.flat("data/", "data/f01500", 1000), what)
                      : replaced(store.list(page, what));
                }));
    assertThat(record.failed).isEmpty();
    assertThat(record.files()).isEqualTo(2999);
    assertThat(record.hidden).containsExactly("data/f00998\uFFFD");
  }

  private static boolean isReplaced(@Nullable String key) {
    return key != null && key.contains("\uFFFD");
  }

  private static ListObjectsV2Response replaced(ListObjectsV2Response page) {
    List<S3Object> keys = new ArrayList<>();
    for (S3Object each : page.contents()) {
      keys.add(each.toBuilder().key(each.key().replace('\u00E9', '\uFFFD')).build());
    }
    return page.toBuilder().contents(keys).build();
  }

  /** One page that failed ended its range, and all names behind it were missing. */
  @Test
  void scan_storeThatDoesNotAnswerForAWhile_isWhole() {
    FakeSortedKeys store = new FakeSortedKeys(threePages(), Duration.ZERO);
    AtomicInteger failures = new AtomicInteger(2);
    ScanRecord record =
        scan(
            (page, what) -> {
              if (page.after() != null && failures.getAndDecrement() > 0) {
                throw new FsException(FsError.TIMED_OUT, what + ": overloaded");
              }
              return store.list(page, what);
            });
    assertThat(record.failed).isEmpty();
    assertThat(record.files()).isEqualTo(3000);
  }

  /** Returns the keys of three pages in one directory. */
  private static List<String> threePages() {
    List<String> keys = new ArrayList<>();
    for (int i = 0; i < 3000; i++) {
      keys.add(String.format("data/f%05d", i));
    }
    return keys;
  }

  /**
   * A store that drops hidden keys from a page after it has counted them may send a page without
   * keys that is not the last one. The scan took it for the end, and all names behind it vanished;
   * later it failed.
   */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void scan_pageWithoutKeysThatIsNotTheLast_goesOn(boolean first) {
    String before = first ? null : "data/f00999";
    Predicate<SortedKeys.Page> which =
        page -> page.token() == null && Objects.equals(page.after(), before);
    ScanRecord record = scan(hiding(threePages(), which, true));
    assertThat(record.failed).isEmpty();
    assertThat(record.complete).containsOnly(".");
    assertThat(record.entries).containsKey(first ? "f01000" : "f00999").containsKey("f02999");
    assertThat(record.entries.containsKey("f00000")).isEqualTo(!first);
  }

  /** A listing that does not say where to go on is no answer. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void scan_pageWithoutKeysAndWithoutToken_fails(boolean first) {
    ScanRecord record = scan(hiding(threePages(), page -> page.after() == null == first, false));
    assertThat(record.complete).isEmpty();
    assertThat(record.failed).containsOnlyKeys(".");
    assertThat(record.failed.get(".").code()).isEqualTo(FsError.IO);
  }

  @Test
  void hasKeys_firstKeyIsHidden_findsTheNextOne() throws FsException {
    List<String> keys = List.of("data/d/hidden", "data/d/shown");
    assertThat(hiding(keys, page -> page.token() == null, true).hasKeys("data/d/", "d")).isTrue();
    assertThat(hiding(keys, page -> true, true).hasKeys("data/d/", "d")).isFalse();
    io.holdfast.fs.Failures.assertFails(
        () -> hiding(keys, page -> true, false).hasKeys("data/d/", "d"), FsError.IO);
  }

  /** A broken store, and a mount that would list it for ever. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void list_pagesWithoutKeysAndWithoutEnd_failsAfterAThousand(boolean same) {
    AtomicInteger lists = new AtomicInteger();
    SortedKeys store =
        new CheckedKeys(
            (page, what) ->
                ListObjectsV2Response.builder()
                    .isTruncated(true)
                    .nextContinuationToken(same ? "same" : "token" + lists.incrementAndGet())
                    .build());
    for (boolean delimiter : new boolean[] {true, false}) {
      SortedKeys.Page page = new SortedKeys.Page("data/", delimiter, null, null, 1);
      io.holdfast.fs.Failures.assertFails(() -> store.list(page, "d"), FsError.IO);
    }
    assertThat(lists).hasValueLessThan(2 * CheckedKeys.MOST_EMPTY + 10);
  }

  /** The mount failed: "nothing is there". */
  @Test
  void open_firstPageHasNoKeysAndIsNotTheLast_opens() throws IOException {
    try (FakeS3 store = new FakeS3(List.of("data/a"));
        ForwardingProxy proxy = ForwardingProxy.start(store.endpoint())) {
      proxy.disturb(
          Request::isList,
          1,
          new Fault.OtherBody(
              "<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>data/"
                  + "</NextContinuationToken></ListBucketResult>"));
      S3Settings settings =
          SharedS3Server.settings(proxy.endpoint(), "s3://bucket/data", Await.LONGEST);
      try (S3Origin origin = S3Origin.open(settings)) {
        assertThat(scan(origin, "").files()).isEqualTo(1);
      }
    }
  }

  /**
   * Returns checked listings of which some pages lack their keys.
   *
   * @param goesOn whether such a page tells where to go on
   */
  private static SortedKeys hiding(
      List<String> keys, Predicate<SortedKeys.Page> which, boolean goesOn) {
    FakeSortedKeys store = new FakeSortedKeys(keys, Duration.ZERO);
    return new CheckedKeys(
        (page, what) -> {
          ListObjectsV2Response answer = store.list(page, what);
          if (!which.test(page)) {
            return answer;
          }
          String token = goesOn ? answer.nextContinuationToken() : null;
          return answer.toBuilder().contents(List.of()).nextContinuationToken(token).build();
        });
  }

  /** The fake that the other tests count with lists as a real server does. */
  @Test
  void fake_listings_areThoseOfARealServer() throws IOException {
    String name = SharedS3Server.newBucket();
    List<String> keys = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      keys.add(
          "data/" + (i % 3 == 0 ? "a" + i : i % 3 == 1 ? "d" + i % 5 + "/f" + i : "a" + i + "/x"));
    }
    try (S3Store real = new S3Store(SharedS3Server.endpoint(), name, "");
        FakeS3 fake = new FakeS3(keys)) {
      keys.forEach(key -> real.put(key, new byte[10]));
      for (boolean delimiter : new boolean[] {true, false}) {
        for (int limit : new int[] {3, 7, 1000}) {
          assertThat(pages(fake.endpoint(), name, delimiter, limit))
              .isEqualTo(pages(SharedS3Server.endpoint(), name, delimiter, limit));
        }
      }
    }
  }

  private static List<String> pages(URI endpoint, String bucket, boolean delimiter, int limit) {
    List<String> pages = new ArrayList<>();
    S3Settings settings =
        SharedS3Server.settings(endpoint, "s3://" + bucket + "/data", Await.LONGEST);
    try (Bucket requests = new Bucket(settings)) {
      String after = null;
      boolean more = true;
      while (more) {
        var page =
            requests.list(
                new SortedKeys.Page(
                    "data/", delimiter, delimiter ? null : after, delimiter ? after : null, limit));
        List<String> shown = new ArrayList<>();
        page.contents().forEach(each -> shown.add(each.key() + " " + each.size()));
        page.commonPrefixes().forEach(each -> shown.add(each.prefix()));
        pages.add(shown.toString());
        more = Boolean.TRUE.equals(page.isTruncated());
        after = delimiter ? page.nextContinuationToken() : more ? lastKey(page.contents()) : null;
      }
    }
    return pages;
  }

  private static String lastKey(List<software.amazon.awssdk.services.s3.model.S3Object> keys) {
    return keys.get(keys.size() - 1).key();
  }

  @Test
  void list_thousandsOfEntries_asksForAThousandAtATime() throws IOException {
    List<String> keys = new ArrayList<>();
    for (int i = 0; i < 3500; i++) {
      keys.add("data/f" + i);
    }
    try (FakeS3 store = new FakeS3(keys);
        ForwardingProxy proxy = ForwardingProxy.start(store.endpoint());
        S3Origin origin =
            S3Origin.open(
                SharedS3Server.settings(proxy.endpoint(), "s3://bucket/data", Await.LONGEST))) {
      proxy.reset();
      List<String> listed = new ArrayList<>();
      origin.list(
          OriginPath.ROOT,
          (name, type, inode, attributes) -> listed.add(OriginPath.of(name).toString()));
      assertThat(listed).hasSize(3500).doesNotHaveDuplicates();
      assertThat(proxy.count(Request::isList)).isEqualTo(4);
    }
  }
}
