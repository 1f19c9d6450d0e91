package io.holdfast.s3server;

import static java.time.format.DateTimeFormatter.RFC_1123_DATE_TIME;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** One connection of a client, and the one to the server that goes with it. Used by one thread. */
final class Connection {
  private static final int BUFFER = 64 << 10;

  private final ForwardingProxy proxy;
  private final Socket client;
  private final InputStream fromClient;
  private final OutputStream toClient;
  private final InputStream fromServer;
  private final OutputStream toServer;
  private final byte[] buffer = new byte[BUFFER];

  Connection(ForwardingProxy proxy, Socket client, Socket server) throws IOException {
    this.proxy = proxy;
    this.client = client;
    this.fromClient = new BufferedInputStream(client.getInputStream(), BUFFER);
    this.toClient = client.getOutputStream();
    this.fromServer = new BufferedInputStream(server.getInputStream(), BUFFER);
    this.toServer = server.getOutputStream();
  }

  /** Ends normally when the client ends the connection between two requests. */
  void serve() throws IOException {
    for (HttpHead head = HttpHead.read(fromClient);
        head != null;
        head = HttpHead.read(fromClient)) {
      String[] first = head.first().split(" ", 3);
      Request request = new Request(first[0], first[1], head.headers());
      Fault fault = proxy.came(request);
      try {
        exchange(head, request, fault);
      } finally {
        proxy.went();
      }
    }
  }

  private void exchange(HttpHead head, Request request, @Nullable Fault fault) throws IOException {
    if (!head.header("Expect").isEmpty()) {
      head.remove("Expect");
      toClient.write("HTTP/1.1 100 Continue\r\n\r\n".getBytes(StandardCharsets.ISO_8859_1));
    }
    if (fault instanceof Fault.Answer answer) {
      pass(fromClient, OutputStream.nullOutputStream(), head.length());
      answer(answer, request);
      return;
    }
    if (fault instanceof Fault.NoAnswer) {
      pass(fromClient, OutputStream.nullOutputStream(), head.length()); // else it would be a reset
      throw new EOFException("no answer");
    }
    if (fault instanceof Fault.Delay delay) {
      pause(delay.time());
    }
    if (fault instanceof Fault.Without without) {
      head.remove(without.header());
    }
    toServer.write(head.bytes());
    passToServer(head.length(), fault);
    HttpHead answer = HttpHead.read(fromServer);
    if (answer == null) {
      throw new EOFException("no answer");
    }
    boolean hasBody = !request.isHead() && !answer.first().matches("\\S+ (204|304)\\b.*");
    if (fault instanceof Fault.OtherEtag other) {
      answer.set("ETag", other.value());
    }
    if (fault instanceof Fault.Shorter shorter) {
      answer.set("Content-Length", Long.toString(answer.length() - shorter.missing()));
    }
    if (fault instanceof Fault.AnswerWithout without) {
      long length = answer.length();
      answer.remove(without.header());
      toClient.write(answer.bytes());
      pass(fromServer, toClient, length);
      throw new EOFException("the end of a body that may have no length");
    }
    if (fault instanceof Fault.OtherBody other) {
      drop(answer.length());
      answer.remove("Transfer-Encoding");
      answer.set("Content-Length", Integer.toString(other.text().length()));
      toClient.write(answer.bytes());
      toClient.write(other.text().getBytes(StandardCharsets.US_ASCII));
      return;
    }
    toClient.write(answer.bytes());
    if (hasBody) {
      body(request, answer.length(), fault);
    }
  }

  private void answer(Fault.Answer answer, Request request) throws IOException {
    String body =
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?><Error><Code>"
            + answer.code()
            + "</Code><Message>from the proxy</Message></Error>";
    HttpHead head =
        new HttpHead(
            List.of(
                "HTTP/1.1 " + answer.status() + " Disturbed",
                "Content-Type: application/xml",
                // a client that is refused signs its next requests by the time that it finds here
                "Date: " + RFC_1123_DATE_TIME.format(ZonedDateTime.now(ZoneOffset.UTC)),
                "Content-Length: " + body.length()));
    for (String line : answer.headers()) {
      String[] parts = line.split(": ", 2);
      head.set(parts[0], parts[1]);
    }
    toClient.write(head.bytes());
    if (!request.isHead()) {
      toClient.write(body.getBytes(StandardCharsets.ISO_8859_1));
    }
  }

  private void body(Request request, long length, @Nullable Fault fault) throws IOException {
    if (fault instanceof Fault.Reset reset) {
      pass(fromServer, toClient, Math.min(length, reset.after()));
      client.setSoLinger(true, 0); // closing sends a reset
      throw new EOFException("reset");
    }
    if (fault instanceof Fault.Stall stall) {
      pass(fromServer, toClient, Math.min(length, stall.after()));
      fromClient.read(); // until the client gives up
      throw new EOFException("stalled");
    }
    if (fault instanceof Fault.Trickle trickle) {
      for (long i = 0; i < length; i++) {
        pass(fromServer, toClient, 1);
        pause(trickle.pause());
      }
      return;
    }
    if (fault instanceof Fault.Shorter) {
      pass(fromServer, toClient, length);
      throw new EOFException("the rest of the server's answer is left there");
    }
    if (length < 0) {
      chunks(toClient);
    } else {
      for (long left = length; left > 0; ) {
        int some = (int) Math.min(left, buffer.length);
        // first: who has received it may look at once
        proxy.passed(request, some);
        pass(fromServer, toClient, some);
        left -= some;
      }
    }
  }

  private void drop(long length) throws IOException {
    OutputStream nowhere = OutputStream.nullOutputStream();
    if (length < 0) {
      chunks(nowhere);
    } else {
      pass(fromServer, nowhere, length);
    }
  }

  private void chunks(OutputStream to) throws IOException {
    while (true) {
      String line = HttpHead.line(fromServer);
      if (line == null) {
        throw new EOFException("in the middle of a body");
      }
      to.write((line + "\r\n").getBytes(StandardCharsets.ISO_8859_1));
      int length = Integer.parseInt(line.trim(), 16);
      pass(fromServer, to, length + 2L);
      if (length == 0) {
        return;
      }
    }
  }

  private void pass(InputStream from, OutputStream to, long length) throws IOException {
    for (long left = length; left > 0; ) {
      int count = from.read(buffer, 0, (int) Math.min(left, buffer.length));
      if (count < 0) {
        throw new EOFException("in the middle of a body");
      }
      to.write(buffer, 0, count);
      left -= count;
    }
  }

  /** Passes a body on. A server that refuses a request ends its connection before it has all. */
  private void passToServer(long length, @Nullable Fault fault) throws IOException {
    boolean takes = true;
    for (long left = length; left > 0; ) {
      int count = fromClient.read(buffer, 0, (int) Math.min(left, buffer.length));
      if (count < 0) {
        throw new EOFException("in the middle of a body");
      }
      if (takes) {
        try {
          toServer.write(buffer, 0, count);
        } catch (IOException e) {
          takes = false; // its answer tells why
        }
      }
      if (fault instanceof Fault.SlowLink link) {
        pause(Duration.ofNanos(count * 1_000_000_000L / link.bytesPerSecond()));
      }
      left -= count;
    }
  }

  private static void pause(Duration time) throws IOException {
    long end = System.nanoTime() + time.toNanos();
    for (long left = time.toNanos(); left > 0; left = end - System.nanoTime()) {
      LockSupport.parkNanos(left);
      if (Thread.currentThread().isInterrupted()) {
        throw new InterruptedIOException();
      }
    }
  }
}
