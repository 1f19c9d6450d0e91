package io.holdfast.s3server;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * S3Proxy over HTTP on a free port of this machine, with an empty store in memory. It is a process
 * with a class path of its own, since it brings half the clouds' libraries. Thread-safe.
 */
public final class S3Server implements AutoCloseable {
  /** The key id that is accepted. */
  public static final String ACCESS_KEY = "holdfast";

  /** Its secret. */
  public static final String SECRET_KEY = "not-a-secret";

  /** The system property with the place of the jars, from Maven. */
  private static final String JARS = "holdfast.s3proxy";

  private static final Duration START = Duration.ofSeconds(60);
  private static final Duration STOP = Duration.ofSeconds(20);
  private static final Duration LOOK = Duration.ofMillis(20);

  private final Process process;
  private final Path directory;
  private final URI endpoint;

  private S3Server(Process process, Path directory, URI endpoint) {
    this.process = process;
    this.directory = directory;
    this.endpoint = endpoint;
  }

  /** Starts one that wants signed requests. */
  public static S3Server start() throws IOException {
    return start("aws-v2-or-v4");
  }

  /** Starts one that lets everybody in. */
  public static S3Server startForEverybody() throws IOException {
    return start("none");
  }

  private static S3Server start(String authorization) throws IOException {
    Path jars = Path.of(String.valueOf(System.getProperty(JARS)));
    if (!Files.isDirectory(jars)) {
      throw new IOException("no jars of S3Proxy in " + jars + ": build packaging/s3server first");
    }
    Path directory = Files.createTempDirectory("s3server-");
    int port = freePort();
    URI endpoint = URI.create("http://127.0.0.1:" + port);
    Path properties = directory.resolve("s3proxy.properties");
    Files.write(
        properties,
        List.of(
            "s3proxy.endpoint=" + endpoint,
            "s3proxy.authorization=" + authorization,
            "s3proxy.identity=" + ACCESS_KEY,
            "s3proxy.credential=" + SECRET_KEY,
            "jclouds.provider=transient",
            "jclouds.identity=any",
            "jclouds.credential=any"));
    Path logging = directory.resolve("logback.xml");
    Files.writeString(
        logging,
        """
        <configuration>
          <appender name="out" class="ch.qos.logback.core.ConsoleAppender">
            <encoder><pattern>%level %logger{0} %msg%n</pattern></encoder>
          </appender>
          <root level="WARN"><appender-ref ref="out"/></root>
        </configuration>
        """);
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx512m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Dlogback.configurationFile=" + logging,
                "-cp",
                jars + "/*",
                "org.gaul.s3proxy.Main",
                "--properties",
                properties.toString())
            .redirectErrorStream(true)
            .redirectOutput(directory.resolve("log").toFile())
            .start();
    S3Server server = new S3Server(process, directory, endpoint);
    server.awaitStart(port);
    return server;
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  private void awaitStart(int port) throws IOException {
    long end = System.nanoTime() + START.toNanos();
    IOException last = null;
    while (process.isAlive() && System.nanoTime() < end) {
      try (Socket socket = new Socket()) {
        socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        return;
      } catch (IOException e) {
        last = e;
        LockSupport.parkNanos(LOOK.toNanos());
      }
    }
    String log = Files.readString(directory.resolve("log"));
    close();
    throw failure("S3Proxy did not start: " + log, last);
  }

  private static IOException failure(String text, @Nullable IOException cause) {
    return cause == null ? new IOException(text) : new IOException(text, cause);
  }

  /** Returns where it answers. */
  public URI endpoint() {
    return endpoint;
  }

  /** Ends the process; what was stored is gone. */
  @Override
  public void close() throws IOException {
    process.destroyForcibly();
    try {
      if (!process.waitFor(STOP.toSeconds(), TimeUnit.SECONDS)) {
        throw new IOException("S3Proxy does not end");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
    for (String name : List.of("s3proxy.properties", "logback.xml", "log")) {
      Files.deleteIfExists(directory.resolve(name));
    }
    Files.delete(directory);
  }
}
