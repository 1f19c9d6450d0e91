package io.holdfast.peer;

import io.netty.util.NetUtil;
import java.io.IOException;
import java.io.Reader;
import java.io.StringReader;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.cert.CertificateException;
import java.security.cert.CertificateParsingException;
import java.security.cert.X509Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLSession;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509TrustManager;
import org.bouncycastle.asn1.pkcs.PrivateKeyInfo;
import org.bouncycastle.cert.X509CertificateHolder;
import org.bouncycastle.cert.jcajce.JcaX509CertificateConverter;
import org.bouncycastle.openssl.PEMKeyPair;
import org.bouncycastle.openssl.PEMParser;
import org.bouncycastle.pkcs.PKCS8EncryptedPrivateKeyInfo;
import org.jspecify.annotations.Nullable;

/**
 * Creates the TLS context from a node's files: it presents the node's certificate, and trusts only
 * certificates that the authority signed. It rejects at once every file that peers would reject
 * later, with a message that names the file and the reason. The caller that creates sockets must
 * request the client's certificate.
 */
public final class TlsContext {
  private static final int LONGEST_KEY = 64 << 10;
  private static final int SAN_DNS = 2;
  private static final int SAN_IP = 7;
  private static final char[] NO_PASSWORD = {};

  private TlsContext() {}

  /**
   * Reads and checks the files.
   *
   * @param host the address by which peers name this node; the certificate must be for it
   * @throws PeerSetupException where a file cannot be read or is no PEM, the certificate is not
   *     valid now, not for the host or not signed by the authority, or the key belongs to another
   *     certificate
   */
  public static SSLContext of(TlsFiles files, String host) throws PeerSetupException {
    List<X509Certificate> chain = certificates(files.certificate());
    List<X509Certificate> authorities = certificates(files.authority());
    PrivateKey key = key(files, chain.get(0).getPublicKey().getAlgorithm());
    Instant now = Instant.now();
    for (X509Certificate each : chain) {
      checkDates(files.certificate(), each, now);
    }
    for (X509Certificate each : authorities) {
      checkDates(files.authority(), each, now);
    }
    if (!names(files.certificate(), chain.get(0), host)) {
      throw new PeerSetupException(
          "the certificate '%s' is not for '%s': name that as a subject alternative name, or listen at a name that is there"
              .formatted(files.certificate(), host));
    }
    try {
      return context(files, chain, key, authorities);
    } catch (GeneralSecurityException | IOException e) {
      throw new PeerSetupException(
          "the certificate '%s' or its key '%s' cannot be used: %s"
              .formatted(files.certificate(), files.key(), e.getMessage()),
          e);
    }
  }

  private static SSLContext context(
      TlsFiles files, List<X509Certificate> chain, PrivateKey key, List<X509Certificate> trusted)
      throws PeerSetupException, GeneralSecurityException, IOException {
    if (!match(chain.get(0).getPublicKey(), key)) {
      throw notItsKey(files, null);
    }
    KeyStore authorities = empty();
    for (int i = 0; i < trusted.size(); i++) {
      authorities.setCertificateEntry("authority " + i, trusted.get(i));
    }
    TrustManagerFactory trust =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(authorities);
    X509Certificate[] path = chain.toArray(new X509Certificate[0]);
    checkTrusted(files, path, trust.getTrustManagers());
    KeyStore own = empty();
    own.setKeyEntry("node", key, NO_PASSWORD, path);
    KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    keys.init(own, NO_PASSWORD);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(keys.getKeyManagers(), trust.getTrustManagers(), null);
    return context;
  }

  private static boolean match(PublicKey certified, PrivateKey key)
      throws GeneralSecurityException {
    if (!certified.getAlgorithm().equals(key.getAlgorithm())) {
      return false;
    }
    String kind = key.getAlgorithm();
    Signature signature =
        Signature.getInstance(
            switch (kind) {
              case "EC" -> "SHA256withECDSA";
              case "RSA", "DSA" -> "SHA256with" + kind;
              default -> kind;
            });
    byte[] message = {1};
    signature.initSign(key);
    signature.update(message);
    byte[] signed = signature.sign();
    signature.initVerify(certified);
    signature.update(message);
    return signature.verify(signed);
  }

  /**
   * Checks the certificate in both roles: a node is a server to some of its peers and a client to
   * others.
   */
  private static void checkTrusted(TlsFiles files, X509Certificate[] path, TrustManager[] managers)
      throws PeerSetupException {
    try {
      for (TrustManager each : managers) {
        if (each instanceof X509TrustManager manager) {
          manager.checkServerTrusted(path, "UNKNOWN");
          manager.checkClientTrusted(path, "UNKNOWN");
        }
      }
    } catch (CertificateException e) {
      throw new PeerSetupException(
          "the certificate '%s' will not be accepted with the authority '%s': give the one that signed it, for servers and for clients"
              .formatted(files.certificate(), files.authority()),
          e);
    }
  }

  private static KeyStore empty() throws GeneralSecurityException, IOException {
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(null, null);
    return store;
  }

  private static void checkDates(Path file, X509Certificate certificate, Instant now)
      throws PeerSetupException {
    Instant from = certificate.getNotBefore().toInstant();
    Instant to = certificate.getNotAfter().toInstant();
    if (now.isAfter(to)) {
      throw new PeerSetupException(
          "the certificate '%s' expired at %s: renew it".formatted(file, to));
    }
    if (now.isBefore(from)) {
      throw new PeerSetupException(
          "the certificate '%s' is not valid before %s: check this machine's clock, or renew it"
              .formatted(file, from));
    }
  }

  private static boolean names(Path file, X509Certificate certificate, String host)
      throws PeerSetupException {
    try {
      return isFor(certificate, host);
    } catch (CertificateParsingException e) {
      throw new PeerSetupException(
          "the names in the certificate '%s' cannot be read: %s".formatted(file, e.getMessage()),
          e);
    }
  }

  /** Tells whether the other side of a session presented a certificate for a host. */
  public static boolean showsOneFor(SSLSession session, String host) {
    try {
      return session.getPeerCertificates()[0] instanceof X509Certificate certificate
          && isFor(certificate, host);
    } catch (SSLPeerUnverifiedException | CertificateParsingException e) {
      return false;
    }
  }

  /**
   * Tells whether a certificate names a host or address as a subject alternative name.
   *
   * @throws CertificateParsingException where its names cannot be read
   */
  private static boolean isFor(X509Certificate certificate, String host)
      throws CertificateParsingException {
    boolean isIp = host.indexOf(':') >= 0 || host.matches("[0-9.]+");
    Collection<List<?>> all = certificate.getSubjectAlternativeNames();
    for (List<?> each : all == null ? List.<List<?>>of() : all) {
      int type = (Integer) each.get(0);
      String name = String.valueOf(each.get(1));
      if (isIp ? type == SAN_IP && sameIp(host, name) : type == SAN_DNS && matches(name, host)) {
        return true;
      }
    }
    return false;
  }

  /**
   * Tells whether two texts are the same IP address. Asks no name server: a peer chooses one of the
   * texts, and an event loop waits.
   */
  private static boolean sameIp(String one, String other) {
    byte[] address = NetUtil.createByteArrayFromIpAddressString(one);
    return address != null
        && Arrays.equals(address, NetUtil.createByteArrayFromIpAddressString(other));
  }

  /** Matches a host name; a star stands for the whole first label (RFC 6125, 6.4.3). */
  private static boolean matches(String pattern, String host) {
    String wanted = host.toLowerCase(Locale.ROOT);
    String given = pattern.toLowerCase(Locale.ROOT);
    int dot = wanted.indexOf('.');
    if (given.startsWith("*.") && dot > 0) {
      return given.substring(1).equals(wanted.substring(dot));
    }
    return given.equals(wanted);
  }

  private static List<X509Certificate> certificates(Path file) throws PeerSetupException {
    List<X509Certificate> found = new ArrayList<>();
    for (Object each : objects(file)) {
      if (each instanceof X509CertificateHolder holder) {
        try {
          found.add(new JcaX509CertificateConverter().getCertificate(holder));
        } catch (CertificateException e) {
          throw notPem(file, "certificate", e);
        }
      }
    }
    if (found.isEmpty()) {
      throw notPem(file, "certificate", null);
    }
    return found;
  }

  private static PrivateKey key(TlsFiles files, String algorithm) throws PeerSetupException {
    for (Object each : keyObjects(files.key())) {
      PrivateKeyInfo info =
          each instanceof PEMKeyPair pair
              ? pair.getPrivateKeyInfo()
              : each instanceof PrivateKeyInfo alone ? alone : null;
      if (info != null) {
        try {
          return KeyFactory.getInstance(algorithm)
              .generatePrivate(new PKCS8EncodedKeySpec(info.getEncoded()));
        } catch (GeneralSecurityException | IOException e) {
          throw notItsKey(files, e);
        }
      }
      if (each instanceof PKCS8EncryptedPrivateKeyInfo) {
        throw new PeerSetupException(
            "the key '%s' has a password: write it without one, with 'openssl pkcs8 -topk8 -nocrypt'"
                .formatted(files.key()));
      }
    }
    throw notPem(files.key(), "private key", null);
  }

  private static PeerSetupException notItsKey(TlsFiles files, @Nullable Exception cause) {
    return new PeerSetupException(
        "the key '%s' does not belong to the certificate '%s': give the one that it was made with"
            .formatted(files.key(), files.certificate()),
        cause == null ? new GeneralSecurityException("another key") : cause);
  }

  private static PeerSetupException notPem(Path file, String what, @Nullable Exception cause) {
    return new PeerSetupException(
        "there is no %s in '%s': give a file in PEM, with a line that begins with '-----BEGIN'"
            .formatted(what, file),
        cause == null ? new IOException("no " + what) : cause);
  }

  /** Reads an object from PEM. */
  private interface Pem {
    byte[] read() throws IOException, PeerSetupException;
  }

  private static List<Object> keyObjects(Path file) throws PeerSetupException {
    return objects(file, () -> PrivateFile.read(file, "the private key", LONGEST_KEY));
  }

  private static List<Object> objects(Path file) throws PeerSetupException {
    return objects(file, () -> Files.readAllBytes(file));
  }

  private static List<Object> objects(Path file, Pem pem) throws PeerSetupException {
    List<Object> found = new ArrayList<>();
    try (Reader reader = new StringReader(new String(pem.read(), StandardCharsets.ISO_8859_1));
        PEMParser parser = new PEMParser(reader)) {
      for (Object each = parser.readObject(); each != null; each = parser.readObject()) {
        found.add(each);
      }
      return found;
    } catch (NoSuchFileException e) {
      throw new PeerSetupException("'%s' does not exist: name a file in PEM".formatted(file), e);
    } catch (AccessDeniedException e) {
      throw new PeerSetupException(
          "'%s' cannot be read by this user: change its owner or mode".formatted(file), e);
    } catch (CharacterCodingException | IllegalArgumentException e) {
      throw notPem(file, "certificate or key", e);
    } catch (IOException e) {
      throw new PeerSetupException("'%s' cannot be read: %s".formatted(file, e.getMessage()), e);
    }
  }
}
