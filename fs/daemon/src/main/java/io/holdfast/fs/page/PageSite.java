package io.holdfast.fs.page;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.web.Site;
import io.holdfast.fs.web.WebAnswer;
import io.holdfast.fs.web.WebRequest;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Serves the page of a mount, and the figures on it, to those who may see them. With a token, a
 * visitor has to show it. Without one, the server listens to this machine only, and a request must
 * name this machine in its {@code Host} header: a page of a stranger, whose name was made to lead
 * to this machine (DNS rebinding), reads nothing with its visitor's browser. Immutable.
 */
public final class PageSite implements Site {
  private static final String JSON = "application/json; charset=utf-8";
  private static final String SCRIPT = "text/javascript; charset=utf-8";
  private static final String STYLE = "text/css; charset=utf-8";

  /** The files of the page, by their path. */
  private static final Map<String, Asset> ASSETS =
      Map.ofEntries(
          Map.entry("/", new Asset("page.html", "text/html; charset=utf-8")),
          Map.entry("/page.css", new Asset("page.css", STYLE)),
          Map.entry("/page.js", new Asset("page.js", SCRIPT)),
          Map.entry("/charts.js", new Asset("charts.js", SCRIPT)),
          Map.entry("/history.js", new Asset("history.js", SCRIPT)),
          Map.entry("/tables.js", new Asset("tables.js", SCRIPT)),
          Map.entry("/text.js", new Asset("text.js", SCRIPT)),
          Map.entry("/icon.svg", new Asset("icon.svg", "image/svg+xml")),
          Map.entry("/uplot/uPlot.js", new Asset("uplot/uPlot.iife.min.js", SCRIPT)),
          Map.entry("/uplot/uPlot.css", new Asset("uplot/uPlot.min.css", STYLE)),
          Map.entry("/uplot/LICENSE", new Asset("uplot/LICENSE", "text/plain; charset=utf-8")));

  /** Every answer has them: the browser loads nothing from elsewhere, and runs no text as code. */
  static final Map<String, String> HEADERS =
      Map.of(
          "Content-Security-Policy",
          "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src"
              + " 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
          "X-Content-Type-Options",
          "nosniff",
          "Referrer-Policy",
          "no-referrer",
          "Cross-Origin-Resource-Policy",
          "same-origin",
          "Cache-Control",
          "no-store");

  /** Names of this machine that no server of names can make another's, with any port. */
  private static final Pattern THIS_MACHINE =
      Pattern.compile(
          "(localhost|127(\\.[0-9]{1,3}){3}|\\[::1\\])(:[0-9]{1,5})?", Pattern.CASE_INSENSITIVE);

  private final String mount;
  private final @Nullable PageToken token;
  private final Map<String, Supplier<byte[]>> figures;
  private final Map<String, byte[]> assets = new LinkedHashMap<>();

  private record Asset(String resource, String type) {}

  /**
   * Creates the site of a mount.
   *
   * @param mount the mount's name
   * @param token the token that a visitor has to show; null if the server listens to this machine
   *     only
   * @param figures returns JSON, by path; called from several threads
   */
  public PageSite(String mount, @Nullable PageToken token, Map<String, Supplier<byte[]>> figures) {
    this.mount = mount;
    this.token = token;
    this.figures = Map.copyOf(figures);
    ASSETS.forEach((path, asset) -> assets.put(path, read(asset.resource)));
  }

  private static byte[] read(String resource) {
    try (InputStream in = PageSite.class.getResourceAsStream(resource)) {
      if (in == null) {
        throw new IllegalStateException("this build lacks " + resource);
      }
      return in.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void requireVisibleAt(InetAddress address, String setting) throws FsException {
    if (token == null && !address.isLoopbackAddress()) {
      throw new FsException(
          FsError.UNAVAILABLE,
          "%s is %s, which other machines may reach: give --page-token-file, or a port alone"
              .formatted(setting, address.getHostAddress()));
    }
  }

  @Override
  public WebAnswer answer(WebRequest request) {
    return authorized(request).with(HEADERS);
  }

  private WebAnswer authorized(WebRequest request) {
    if (token == null) {
      return request.header("Host").filter(host -> THIS_MACHINE.matcher(host).matches()).isPresent()
          ? content(request.path())
          : WebAnswer.text(
              421, "this page is for this machine: ask for it as localhost or 127.0.0.1\n");
    }
    return request.header("Authorization").filter(token::isIn).isPresent()
        ? content(request.path())
        : WebAnswer.text(401, "this page is for those who have the token of the mount\n")
            .with(
                Map.of(
                    "WWW-Authenticate",
                    "Basic realm=\"Holdfast, mount " + mount + "\", charset=\"UTF-8\""));
  }

  private WebAnswer content(String path) {
    Supplier<byte[]> json = figures.get(path);
    if (json != null) {
      return WebAnswer.of(200, JSON, json.get());
    }
    Asset asset = ASSETS.get(path);
    byte[] body = assets.get(path);
    return asset == null || body == null
        ? WebAnswer.text(404, "nothing here: the page is at /\n")
        : WebAnswer.of(200, asset.type, body);
  }
}
