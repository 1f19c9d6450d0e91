package io.holdfast.peer.transfer;

import io.holdfast.peer.NodeAddress;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;

/** A node that knows the secret and signs whatever it is told to answer. */
final class LyingServer implements AutoCloseable {
  private final ServerSocket listener;
  private final NodeAddress address;
  private final int status;
  private final Map<String, String> headers;
  private final byte[] body;
  private final List<Socket> sockets = new CopyOnWriteArrayList<>();

  LyingServer(String host, int status, Map<String, String> headers, byte[] body) {
    try {
      listener = new ServerSocket(0, 10, InetAddress.getByName(host));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    address = new NodeAddress(host, listener.getLocalPort());
    this.status = status;
    this.headers = headers;
    this.body = body;
    Thread thread = new Thread(this::serve, "liar");
    thread.setDaemon(true);
    thread.start();
  }

  NodeAddress address() {
    return address;
  }

  private void serve() {
    try {
      while (true) {
        Socket socket = listener.accept();
        sockets.add(socket);
        HttpRequest hello = read(socket);
        AuthenticatedSession.Parties parties =
            new AuthenticatedSession.Parties(
                hello.headers().get(HttpNames.NONCE),
                AuthenticatedSession.nonce(),
                hello.headers().get(HttpNames.NODE),
                address.toString());
        AuthenticatedSession session = new AuthenticatedSession(Nodes.key(Nodes.SECRET), parties);
        HttpResponse challenge = response(401, Map.of("Content-Length", "0"));
        challenge
            .headers()
            .set(
                "WWW-Authenticate",
                AuthenticatedSession.challenge(Nodes.key(Nodes.SECRET), parties));
        write(socket, challenge, new byte[0]);
        HttpRequest request = read(socket);
        session.verify(request);
        HttpResponse answer = response(status, headers);
        session.sign(answer);
        write(socket, answer, body);
      }
    } catch (IOException e) {
      // the test is over
    }
  }

  private static HttpResponse response(int status, Map<String, String> headers) {
    HttpResponse response =
        new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.valueOf(status));
    headers.forEach((name, value) -> response.headers().set(name, value));
    return response;
  }

  private static HttpRequest read(Socket socket) throws IOException {
    StringBuilder text = new StringBuilder();
    while (text.indexOf("\r\n\r\n") < 0) {
      int each = socket.getInputStream().read();
      if (each < 0) {
        throw new IOException("closed");
      }
      text.append((char) each);
    }
    String[] lines = text.toString().split("\r\n", -1);
    String[] first = lines[0].split(" ", -1);
    HttpRequest request =
        new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.valueOf(first[0]), first[1]);
    for (int i = 1; i < lines.length; i++) {
      int colon = lines[i].indexOf(": ");
      if (colon > 0) {
        request.headers().add(lines[i].substring(0, colon), lines[i].substring(colon + 2));
      }
    }
    return request;
  }

  private static void write(Socket socket, HttpResponse response, byte[] body) throws IOException {
    StringBuilder text = new StringBuilder("HTTP/1.1 " + response.status() + "\r\n");
    response
        .headers()
        .forEach(each -> text.append(each.getKey() + ": " + each.getValue() + "\r\n"));
    socket
        .getOutputStream()
        .write(text.append("\r\n").toString().getBytes(StandardCharsets.ISO_8859_1));
    socket.getOutputStream().write(body);
    socket.getOutputStream().flush();
  }

  @Override
  public void close() {
    try {
      listener.close();
      for (Socket each : sockets) {
        each.close();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
