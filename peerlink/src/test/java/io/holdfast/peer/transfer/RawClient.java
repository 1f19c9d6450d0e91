package io.holdfast.peer.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.peer.Credentials;
import io.holdfast.peer.NodeAddress;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** A client that sends what it is told to, byte by byte. */
final class RawClient implements AutoCloseable {
  private static final int PATIENCE_MILLIS = 20_000;
  private static final String CLIENT = "127.0.0.66:6666";
  private static final int LITTLE_ROOM = 64 << 10;

  private final Socket socket;
  private final NodeAddress server;
  private @Nullable AuthenticatedSession session;

  /** An answer, with the names of headers in lower case. */
  record Answer(int status, Map<String, String> headers, String text) {}

  RawClient(NodeAddress server) throws IOException {
    this(server, new Socket());
  }

  private RawClient(NodeAddress server, Socket socket) throws IOException {
    this.server = server;
    this.socket = socket;
    socket.connect(new InetSocketAddress(server.host(), server.port()));
    socket.setSoTimeout(PATIENCE_MILLIS);
    socket.setTcpNoDelay(true);
  }

  /**
   * A client for which the kernel keeps little: it would take megabytes that are not read, and the
   * last of them in drops, for a minute.
   */
  static RawClient withLittleRoom(NodeAddress server) throws IOException {
    Socket socket = new Socket();
    socket.setReceiveBufferSize(LITTLE_ROOM);
    return new RawClient(server, socket);
  }

  /** Authenticates; later requests are signed with these credentials. */
  RawClient hello(Credentials credentials) throws IOException {
    String nonce = AuthenticatedSession.nonce();
    send(
        "GET /v1/hello HTTP/1.1\r\nHoldfast-Nonce: %s\r\nHoldfast-Node: %s\r\n\r\n"
            .formatted(nonce, CLIENT));
    String challenge = read(false).headers().get("www-authenticate");
    assertThat(challenge).startsWith("Holdfast nonce=");
    String serverNonce = challenge.split("\"", -1)[1];
    session =
        new AuthenticatedSession(
            Nodes.key(credentials),
            new AuthenticatedSession.Parties(nonce, serverNonce, CLIENT, server.toString()));
    return this;
  }

  /** Returns the bytes of a request, signed if there was a greeting. */
  String request(String method, String uri, String... headers) {
    HttpRequest request =
        new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.valueOf(method), uri);
    for (String each : headers) {
      int colon = each.indexOf(": ");
      request.headers().add(each.substring(0, colon), each.substring(colon + 2));
    }
    if (session != null) {
      session.sign(request);
    }
    StringBuilder text = new StringBuilder(method + " " + uri + " HTTP/1.1\r\n");
    request.headers().forEach(each -> text.append(each.getKey() + ": " + each.getValue() + "\r\n"));
    return text.append("\r\n").toString();
  }

  /** Returns a request for the item {@code a} of ten bytes. */
  String get(String uri, String... more) {
    String[] headers = new String[more.length + 2];
    headers[0] = "If-Match: \"" + Nodes.TAG + "\"";
    headers[1] = "Holdfast-Item: length=10;item-size=" + Nodes.DATASET.itemSize();
    System.arraycopy(more, 0, headers, 2, more.length);
    return request("GET", uri, headers);
  }

  void send(String text) throws IOException {
    send(text.getBytes(StandardCharsets.ISO_8859_1));
  }

  void send(byte[] bytes) throws IOException {
    socket.getOutputStream().write(bytes);
    socket.getOutputStream().flush();
  }

  Answer ask(String request) throws IOException {
    send(request);
    return read(request.startsWith("HEAD"));
  }

  /** Reads the next answer that is no interim one. */
  Answer read(boolean head) throws IOException {
    InputStream in = socket.getInputStream();
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    while (!bytes.toString(StandardCharsets.ISO_8859_1).endsWith("\r\n\r\n")) {
      int each = in.read();
      if (each < 0) {
        throw new IOException("closed after '" + bytes + "'");
      }
      bytes.write(each);
    }
    String[] lines = bytes.toString(StandardCharsets.ISO_8859_1).split("\r\n", -1);
    int status = Integer.parseInt(lines[0].split(" ", -1)[1]);
    if (status == 102) {
      return read(head);
    }
    Map<String, String> headers = new TreeMap<>();
    for (int i = 1; i < lines.length; i++) {
      int colon = lines[i].indexOf(": ");
      if (colon > 0) {
        headers.put(
            lines[i].substring(0, colon).toLowerCase(Locale.ROOT), lines[i].substring(colon + 2));
      }
    }
    int length = head ? 0 : Integer.parseInt(headers.getOrDefault("content-length", "0"));
    return new Answer(
        status, headers, new String(in.readNBytes(length), StandardCharsets.ISO_8859_1));
  }

  /** Reads so many bytes; fewer at the end. */
  int take(int most) throws IOException {
    return socket.getInputStream().readNBytes(most).length;
  }

  /** Waits until the server closes the connection, and returns how many bytes came before. */
  int awaitEnd() throws IOException {
    int count = 0;
    byte[] bytes = new byte[LITTLE_ROOM];
    try {
      for (int each = 0; each >= 0; each = socket.getInputStream().read(bytes)) {
        count += each;
      }
    } catch (SocketException e) {
      // a reset is an end as well
      assertThat(e).hasMessageContaining("reset");
    }
    return count;
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
