package io.holdfast.fs.page;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.fs.FsException;
import io.holdfast.fs.web.WebAnswer;
import io.holdfast.fs.web.WebRequest;
import java.net.InetAddress;
import java.util.Base64;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of {@link PageSite}. */
final class PageSiteTest {
  private static final String TOKEN = "a token of some letters";
  private static final Map<String, String> LOCAL = Map.of("Host", "localhost:9465");

  private final PageSite open =
      new PageSite("data", null, Map.of("/stats.json", () -> "{}".getBytes(UTF_8)));
  private final PageSite guarded = new PageSite("data", token(), Map.of());

  private static PageToken token() {
    try {
      return PageToken.of("token", TOKEN);
    } catch (FsException e) {
      throw new AssertionError(e);
    }
  }

  private static WebAnswer ask(PageSite site, String path, Map<String, String> headers) {
    return site.answer(new WebRequest(path, headers::get));
  }

  /** The page checks the address that its name leads to now, not the one at the start. */
  @Test
  void requireVisibleAt_anAddressOfOtherMachines_needsAToken() throws Exception {
    InetAddress reachable = InetAddress.getByName("192.0.2.1");
    open.requireVisibleAt(InetAddress.getLoopbackAddress(), "--page localhost:9465");
    guarded.requireVisibleAt(reachable, "--page node1:9465");
    assertThatThrownBy(() -> open.requireVisibleAt(reachable, "--page node1:9465"))
        .isInstanceOf(FsException.class)
        .hasMessageStartingWith("--page node1:9465 is 192.0.2.1, which other machines may reach: ");
  }

  @ParameterizedTest
  @CsvSource({
    "/, text/html; charset=utf-8",
    "/page.js, text/javascript; charset=utf-8",
    "/charts.js, text/javascript; charset=utf-8",
    "/history.js, text/javascript; charset=utf-8",
    "/tables.js, text/javascript; charset=utf-8",
    "/text.js, text/javascript; charset=utf-8",
    "/page.css, text/css; charset=utf-8",
    "/icon.svg, image/svg+xml",
    "/uplot/uPlot.js, text/javascript; charset=utf-8",
    "/uplot/uPlot.css, text/css; charset=utf-8",
    "/uplot/LICENSE, text/plain; charset=utf-8",
    "/stats.json, application/json; charset=utf-8"
  })
  void files_haveTheirTypeAndEveryHeader(String path, String type) {
    WebAnswer answer = ask(open, path, LOCAL);
    assertThat(answer.status()).isEqualTo(200);
    assertThat(answer.headers()).containsEntry("Content-Type", type);
    assertThat(answer.body()).isNotEmpty();
    assertHeaders(answer);
  }

  private static void assertHeaders(WebAnswer answer) {
    assertThat(answer.headers())
        .containsEntry(
            "Content-Security-Policy",
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src"
                + " 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'self'")
        .containsEntry("X-Content-Type-Options", "nosniff")
        .containsEntry("Referrer-Policy", "no-referrer")
        .containsEntry("Cross-Origin-Resource-Policy", "same-origin")
        .containsEntry("Cache-Control", "no-store")
        .doesNotContainKey("Access-Control-Allow-Origin");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "/x", "/page.html", "/uplot/", "/../page.js", "/META-INF/MANIFEST.MF"})
  void otherPaths_areNotThere(String path) {
    WebAnswer answer = ask(open, path, LOCAL);
    assertThat(answer.status()).isEqualTo(404);
    assertHeaders(answer);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"localhost", "LOCALHOST:1", "127.0.0.1:9465", "127.1.2.3", "[::1]", "[::1]:9465"})
  void withoutToken_whoNamesThisMachine_isLetIn(String host) {
    assertThat(ask(open, "/stats.json", Map.of("Host", host)).status()).isEqualTo(200);
  }

  /** The name of a stranger's page may lead to this machine, by a server of names. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "attacker.example",
        "attacker.example:9465",
        "localhost.attacker.example",
        "127.0.0.1.attacker.example:9465",
        "localhost:9465.attacker.example",
        "10.0.0.1",
        "[::2]:9465",
        "user@localhost"
      })
  void withoutToken_whoNamesAnotherHost_isRefused(String host) {
    WebAnswer answer = ask(open, "/stats.json", Map.of("Host", host));
    assertThat(answer.status()).isEqualTo(421);
    assertThat(new String(answer.body(), UTF_8)).doesNotContain("{");
    assertHeaders(answer);
  }

  @Test
  void withoutToken_whoNamesNoHost_isRefused() {
    assertThat(ask(open, "/", Map.of()).status()).isEqualTo(421);
  }

  @ParameterizedTest
  @ValueSource(strings = {"any", "", "admin"})
  void withToken_asAPassword_isLetInAtAnyHost(String user) {
    String credentials = Base64.getEncoder().encodeToString((user + ":" + TOKEN).getBytes(UTF_8));
    for (String scheme : new String[] {"Basic ", "basic "}) {
      WebAnswer answer =
          ask(
              guarded,
              "/",
              Map.of("Authorization", scheme + credentials, "Host", "node1.example:9465"));
      assertThat(answer.status()).isEqualTo(200);
    }
  }

  @Test
  void withToken_asABearer_isLetIn() {
    assertThat(ask(guarded, "/", Map.of("Authorization", "Bearer " + TOKEN)).status())
        .isEqualTo(200);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "Basic",
        "Basic !!!",
        "Basic Og==", // ":"
        "Basic YSB0b2tlbiBvZiBzb21lIGxldHRlcnM6", // the token as the user
        "Bearer ",
        "Bearer a token of some letter",
        "Bearer a token of some letters and more",
        "Digest a token of some letters",
        "a token of some letters"
      })
  void withToken_anotherOne_isAskedForIt(String authorization) {
    WebAnswer answer =
        ask(guarded, "/", Map.of("Authorization", authorization, "Host", "localhost"));
    assertThat(answer.status()).isEqualTo(401);
    assertThat(answer.headers())
        .containsEntry(
            "WWW-Authenticate", "Basic realm=\"Holdfast, mount data\", charset=\"UTF-8\"");
    assertHeaders(answer);
  }

  @Test
  void withToken_noneIsShown_isRefusedForEveryPath() {
    for (String path : new String[] {"/", "/page.js", "/uplot/LICENSE", "/stats.json", "/x"}) {
      assertThat(ask(guarded, path, LOCAL).status()).as(path).isEqualTo(401);
    }
  }

  /**
   * The page names files of this site only, each of them exists, and its own text has no script.
   */
  @Test
  void page_loadsOnlyWhatTheSiteHas() {
    String html = new String(ask(open, "/", LOCAL).body(), UTF_8);
    Matcher links = Pattern.compile("(?:src|href)=\"([^\"#]+)\"").matcher(html);
    TreeSet<String> loaded = new TreeSet<>();
    while (links.find()) {
      loaded.add("/" + links.group(1));
    }
    assertThat(loaded).contains("/page.js", "/uplot/uPlot.js", "/page.css", "/stats.json");
    for (String path : loaded) {
      assertThat(ask(open, path, LOCAL).status()).as(path).isEqualTo(200);
    }
    assertThat(html.toLowerCase(Locale.ROOT))
        .doesNotContain("://")
        .doesNotContain("style=")
        .doesNotContain("<style")
        .doesNotContainPattern("\\son[a-z]+=")
        .doesNotContainPattern("<script(?![^>]* src=)");
  }

  /** Names that users chose must not become markup, nor text become code. */
  @Test
  void scripts_makeNoMarkupAndNoCodeOfText() {
    for (String path :
        new String[] {"/page.js", "/charts.js", "/history.js", "/tables.js", "/text.js"}) {
      assertThat(new String(ask(open, path, LOCAL).body(), UTF_8))
          .as(path)
          .doesNotContain("innerHTML")
          .doesNotContain("outerHTML")
          .doesNotContain("insertAdjacentHTML")
          .doesNotContain("document.write")
          .doesNotContain("eval(")
          .doesNotContain("Function(")
          .doesNotContain("://");
    }
  }
}
