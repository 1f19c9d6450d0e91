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
 * The state of a connection between two nodes that have proven to each other that they know the
 * cluster's secret. Not thread-safe.
 *
 * <p>The proof is that of ISO/IEC 9798-4, mutual authentication in three passes:
 *
 * <ol>
 *   <li>client to server: its nonce and its address;
 *   <li>server to client: its nonce, and a MAC over both nonces and both addresses under the
 *       cluster's key; the client checks the MAC before it sends anything else;
 *   <li>client to server: its first request, with a MAC under a key that is derived from the same.
 * </ol>
 *
 * <p>The MAC has the server's address as the client dialled it, so nobody in between can pass the
 * proof of one node off as another's, nor a node's own proof back to it. Requests are numbered from
 * 1 without gaps, and answers carry their request's number, so nothing can be replayed, omitted or
 * reordered.
 */
final class AuthenticatedSession {
  static final int NONCE_BYTES = 32;

  private static final SecureRandom RANDOM = new SecureRandom();
  private static final Pattern AUTHORIZATION =
      Pattern.compile(HttpNames.SCHEME + " seq=\"([0-9]{1,18})\", mac=\"([A-Za-z0-9_-]{43})\"");
  private static final Pattern CHALLENGE =
      Pattern.compile(
          HttpNames.SCHEME + " nonce=\"([A-Za-z0-9_-]{43})\", proof=\"([A-Za-z0-9_-]{43})\"");

  private final Seal seal;
  private long sequence;

  /**
   * The two sides of a connection, and their nonces.
   *
   * @param clientNonce in base64url
   * @param serverNonce in base64url
   * @param client the address that the client listens at
   * @param server the address that the client dialled
   */
  record Parties(String clientNonce, String serverNonce, String client, String server) {}

  /** The result of checking a request's proof. */
  enum Verdict {
    RIGHT,
    WRONG,
    /** The proof was valid for an earlier request. */
    REPLAYED
  }

  AuthenticatedSession(SecretKey key, Parties parties) {
    seal = new Seal(Seal.key(sealed(key, "session", parties).bytes()));
  }

  static String nonce() {
    byte[] nonce = new byte[NONCE_BYTES];
    RANDOM.nextBytes(nonce);
    return Seal.encode(nonce);
  }

  /** Tells whether a text has the form of a nonce. */
  static boolean isNonce(@Nullable String text) {
    return text != null && text.matches("[A-Za-z0-9_-]{43}");
  }

  /** Returns the server's answer to a hello. */
  static String challenge(SecretKey key, Parties parties) {
    return "%s nonce=\"%s\", proof=\"%s\""
        .formatted(HttpNames.SCHEME, parties.serverNonce(), sealed(key, "server", parties).text());
  }

  /**
   * Checks a server's answer to a hello.
   *
   * @return null where the server does not know the secret
   */
  static @Nullable AuthenticatedSession accept(
      SecretKey key, String clientNonce, String client, String server, @Nullable String challenge) {
    Matcher matcher = CHALLENGE.matcher(challenge == null ? "" : challenge);
    if (!matcher.matches()) {
      return null;
    }
    Parties parties = new Parties(clientNonce, matcher.group(1), client, server);
    boolean proved = Seal.same(sealed(key, "server", parties).text(), matcher.group(2));
    return proved ? new AuthenticatedSession(key, parties) : null;
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
            HttpNames.SCHEME + " seq=\"" + sequence + "\", mac=\"" + code(sequence, request) + '"');
  }

  /** Checks a request's proof, and stores its number for the answer. */
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
    answer.headers().set(HttpNames.MAC, code(sequence, answer));
  }

  /** Tells whether an answer is the peer's answer to the last request. */
  boolean verify(HttpResponse answer) {
    return Seal.same(code(sequence, answer), answer.headers().get(HttpNames.MAC));
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
        .add(headers.get(HttpNames.ITEM))
        .add(headers.get(HttpNames.SKETCHES))
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
        .add(headers.get(HttpNames.DIGEST))
        .add(headers.get(HttpNames.RESIDENT))
        .text();
  }
}
