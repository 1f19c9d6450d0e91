package io.holdfast.fs.daemon;

import io.holdfast.fs.FsException;
import io.holdfast.fs.linux.NamedThreads;
import io.holdfast.fs.metrics.ScrapeSite;
import io.holdfast.fs.page.PageSite;
import io.holdfast.fs.page.PageToken;
import io.holdfast.fs.settings.Setting;
import io.holdfast.fs.settings.SettingTable;
import io.holdfast.fs.settings.Settings;
import io.holdfast.fs.web.Site;
import io.holdfast.fs.web.WebServer;
import io.holdfast.peer.NodeAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Starts the servers that a mount's settings ask for: of metrics, and of its page. */
final class WebServers {
  private static final Logger log = LoggerFactory.getLogger(WebServers.class);

  private static final List<Setting<NodeAddress>> SETTINGS =
      List.of(SettingTable.METRICS, SettingTable.PAGE);

  private final Settings settings;
  private final Supplier<byte[]> scrape;
  private final PageFiles page;
  private final Undo undo;

  /**
   * Prepares servers.
   *
   * @param scrape returns the answer to a scrape
   * @param undo takes the servers, to close them
   */
  WebServers(Settings settings, Supplier<byte[]> scrape, PageFiles page, Undo undo) {
    this.settings = settings;
    this.scrape = scrape;
    this.page = page;
    this.undo = undo;
  }

  /**
   * Starts the servers.
   *
   * @throws FsException if one cannot be, with one line for the user
   */
  void start() throws FsException {
    for (Setting<NodeAddress> setting : SETTINGS) {
      Optional<WebServer> server = server(setting);
      if (server.isPresent()) {
        server.get().start();
      }
    }
  }

  /**
   * Starts the servers of a mount that is there already, which goes on without a server that cannot
   * be. The killed daemon's sockets may stay for as long as one of its threads does.
   */
  void keepStarting() {
    for (Setting<NodeAddress> setting : SETTINGS) {
      try {
        server(setting)
            .ifPresent(
                server -> NamedThreads.start(setting.name() + "-start", server::keepStarting));
      } catch (FsException e) {
        log.warn("this daemon goes on without: {}", e.getMessage());
      }
    }
  }

  private Optional<WebServer> server(Setting<NodeAddress> setting) throws FsException {
    Optional<NodeAddress> address = settings.find(setting);
    if (address.isEmpty()) {
      return Optional.empty();
    }
    Site site = setting == SettingTable.PAGE ? page() : scrapes();
    InetSocketAddress at =
        InetSocketAddress.createUnresolved(address.get().host(), address.get().port());
    return Optional.of(undo.closing(new WebServer(setting.name(), at, site)));
  }

  private Site scrapes() {
    return new ScrapeSite(settings.get(SettingTable.NAME), scrape);
  }

  private Site page() throws FsException {
    PageToken token = token();
    return new PageSite(settings.get(SettingTable.NAME), token, page.files(token != null));
  }

  private @Nullable PageToken token() throws FsException {
    Optional<Path> file = settings.find(SettingTable.PAGE_TOKEN_FILE);
    return file.isPresent() ? PageToken.read(file.get()) : null;
  }
}
