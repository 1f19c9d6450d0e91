package io.holdfast.peer.transfer;

import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import java.security.SecureRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.crypto.SecretKey;
import org.jspecify.annotations.Nullable;

/**
 * What two nodes that proved to each other that they know the cluster's secret share on one
 * connection. Not thread-safe.
 *
 * <p>The proof is that of ISO/IEC 9798-4, mutual authentication in three passes:
 *
 * <ol>
 *   <li>client to server: its nonce and its address;
 *   <li>server to client: its nonce, and a code over both nonces and both addresses under the
 *       cluster's key, which the client checks before it sends anything else;
 *   <li>client to server: its first request, with a code under a key that is derived from the same.
 * </ol>
 *
 * <p>The server's address in the code is the one that the client dialled, so nobody in between can
 * pass the proof of one node off as another's, nor a node's own back to it. Requests are numbered
 * from 1 without gaps, and answers carry their request's number, so nothing can be replayed, left
 * out or moved.
 */
final class Session {
  static final int NONCE_BYTES = 32;

  private static final SecureRandom RANDOM = new SecureRandom();
  private static final Pattern AUTHORIZATION =
      Pattern.compile(Wire.SCHEME + " seq=\"([0-9]{1,18})\", mac=\"([A-Za-z0-9_-]{43})\"");
  private static final Pattern CHALLENGE =
      Pattern.compile(
          Wire.SCHEME + " nonce=\"([A-Za-z0-9_-]{43})\", proof=\"([A-Za-z0-9_-]{43})\"");

  private final Seal seal;
  private long sequence;

  /**
   * The two sides of a connection, and what each of them drew for it.
   *
   * @param clientNonce in base64url
   * @param serverNonce in base64url
   * @param client address that it listens at
   * @param server address that the client dialled
   */
  record Parties(String clientNonce, String serverNonce, String client, String server) {}

  /** How a request's proof turned out. */
  enum Verdict {
    RIGHT,
    WRONG,
    /** It was right once, earlier. */
    REPLAYED
  }

  Session(SecretKey key, Parties parties) {
    seal = new Seal(Seal.key(sealed(key, "session", parties).bytes()));
  }

  static String nonce() {
    byte[] nonce = new byte[NONCE_BYTES];
    RANDOM.nextBytes(nonce);
    return Seal.encode(nonce);
  }

  /** Tells whether a text is a nonce as a client writes it. */
  static boolean isNonce(@Nullable String text) {
    return text != null && text.matches("[A-Za-z0-9_-]{43}");
  }

  /** Returns what a server answers to a hello. */
  static String challenge(SecretKey key, Parties parties) {
    return "%s nonce=\"%s\", proof=\"%s\""
        .formatted(Wire.SCHEME, parties.serverNonce(), sealed(key, "server", parties).text());
  }

  /**
   * Checks a server's answer to a hello.
   *
   * @return null where it does not know the secret
   */
  static @Nullable Session accept(
      SecretKey key, String clientNonce, String client, String server, @Nullable String challenge) {
    Matcher matcher = CHALLENGE.matcher(challenge == null ? "" : challenge);
    if (!matcher.matches()) {
      return null;
    }
    Parties parties = new Parties(clientNonce, matcher.group(1), client, server);
    boolean proved = Seal.same(sealed(key, "server", parties).text(), matcher.group(2));
    return proved ? new Session(key, parties) : null;
  }

  private static Seal sealed(SecretKey key, String purpose, Parties parties) {
    return new Seal(key)
        .add(purpose)
        .add(parties.clientNonce())
        .add(parties.serverNonce())
        .add(parties.client())
        .add(parties.server());
  }

  /** Numbers a request and adds its proof. */
  void sign(HttpRequest request) {
    sequence++;
    request
        .headers()
        .set(
            HttpHeaderNames.AUTHORIZATION,
            Wire.SCHEME + " seq=\"" + sequence + "\", mac=\"" + code(sequence, request) + '"');
  }

  /** Checks a request's proof, and takes its number for the answer. */
  Verdict verify(HttpRequest request) {
    String authorization = request.headers().get(HttpHeaderNames.AUTHORIZATION);
    Matcher matcher = AUTHORIZATION.matcher(authorization == null ? "" : authorization);
    if (!matcher.matches()) {
      return Verdict.WRONG;
    }
    long number = Long.parseLong(matcher.group(1));
    if (!Seal.same(code(number, request), matcher.group(2))) {
      return Verdict.WRONG;
    }
    if (number != sequence + 1) {
      return number <= sequence ? Verdict.REPLAYED : Verdict.WRONG;
    }
    sequence = number;
    return Verdict.RIGHT;
  }

  /** Adds the proof to the answer of the last request. */
  void sign(HttpResponse answer) {
    answer.headers().set(Wire.MAC, code(sequence, answer));
  }

  /** Tells whether an answer is the peer's, and to the last request. */
  boolean verify(HttpResponse answer) {
    return Seal.same(code(sequence, answer), answer.headers().get(Wire.MAC));
  }

  private String code(long number, HttpRequest request) {
    HttpHeaders headers = request.headers();
    return seal.add("request")
        .add(number)
        .add(request.method().name())
        .add(request.uri())
        .add(headers.get(HttpHeaderNames.IF_MATCH))
        .add(headers.get(HttpHeaderNames.RANGE))
        .add(headers.get(HttpHeaderNames.CACHE_CONTROL))
        .add(headers.get(Wire.ITEM))
        .add(headers.get(Wire.SKETCHES))
        .text();
  }

  private String code(long number, HttpResponse answer) {
    HttpHeaders headers = answer.headers();
    return seal.add("answer")
        .add(number)
        .add(answer.status().code())
        .add(headers.get(HttpHeaderNames.ETAG))
        .add(headers.get(HttpHeaderNames.CONTENT_RANGE))
        .add(headers.get(HttpHeaderNames.CONTENT_LENGTH))
        .add(headers.get(Wire.DIGEST))
        .add(headers.get(Wire.RESIDENT))
        .text();
  }
}
