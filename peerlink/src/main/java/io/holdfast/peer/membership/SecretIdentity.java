package io.holdfast.peer.membership;

import io.holdfast.peer.ClusterSecret;
import java.io.IOException;
import java.math.BigInteger;
import java.net.Socket;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import java.time.Instant;
import java.util.Date;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509ExtendedTrustManager;
import org.bouncycastle.asn1.x500.X500Name;
import org.bouncycastle.cert.X509v3CertificateBuilder;
import org.bouncycastle.cert.jcajce.JcaX509CertificateConverter;
import org.bouncycastle.crypto.params.Ed25519PrivateKeyParameters;
import org.bouncycastle.crypto.util.PrivateKeyInfoFactory;
import org.bouncycastle.crypto.util.SubjectPublicKeyInfoFactory;
import org.bouncycastle.operator.OperatorCreationException;
import org.bouncycastle.operator.jcajce.JcaContentSignerBuilder;

/**
 * The identity that all holders of the cluster secret have: an Ed25519 key pair derived from the
 * secret, and a certificate for it that is byte-identical on every node.
 *
 * <p>Its TLS context presents this certificate and accepts no other. In TLS, both sides sign the
 * handshake with fresh random numbers of both (RFC 8446, 4.4.3), so a peer that completes the
 * handshake has the key, and so knows the secret. The secret itself is never sent. As with any such
 * proof, an attacker who may try a handshake can check guesses at the secret offline, so the secret
 * must be random.
 */
final class SecretIdentity {
  private static final Date FROM = Date.from(Instant.parse("2000-01-01T00:00:00Z"));
  private static final Date TO = Date.from(Instant.parse("9999-01-01T00:00:00Z"));
  private static final X500Name NAME = new X500Name("CN=holdfast");
  private static final char[] NO_PASSWORD = {};

  private SecretIdentity() {}

  /** Creates the context. */
  static SSLContext context(ClusterSecret secret) {
    Ed25519PrivateKeyParameters pair =
        new Ed25519PrivateKeyParameters(secret.key("membership plane"), 0);
    try {
      PrivateKey key =
          KeyFactory.getInstance("Ed25519")
              .generatePrivate(
                  new PKCS8EncodedKeySpec(
                      PrivateKeyInfoFactory.createPrivateKeyInfo(pair).getEncoded()));
      X509Certificate certificate = certificate(pair, key);
      KeyStore store = KeyStore.getInstance("PKCS12");
      store.load(null, null);
      store.setKeyEntry("cluster", key, NO_PASSWORD, new X509Certificate[] {certificate});
      KeyManagerFactory keys =
          KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
      keys.init(store, NO_PASSWORD);
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(keys.getKeyManagers(), new TrustManager[] {new Exactly(certificate)}, null);
      return context;
    } catch (GeneralSecurityException | IOException | OperatorCreationException e) {
      throw new IllegalStateException("every Java from 16 on has TLS with Ed25519", e);
    }
  }

  private static X509Certificate certificate(Ed25519PrivateKeyParameters pair, PrivateKey key)
      throws IOException, OperatorCreationException, CertificateException {
    return new JcaX509CertificateConverter()
        .getCertificate(
            new X509v3CertificateBuilder(
                    NAME,
                    BigInteger.ONE,
                    FROM,
                    TO,
                    NAME,
                    SubjectPublicKeyInfoFactory.createSubjectPublicKeyInfo(
                        pair.generatePublicKey()))
                .build(new JcaContentSignerBuilder("Ed25519").build(key)));
  }

  /** Trusts exactly one certificate. */
  private static final class Exactly extends X509ExtendedTrustManager {
    private final X509Certificate only;

    Exactly(X509Certificate only) {
      this.only = only;
    }

    private void check(X509Certificate[] chain) throws CertificateException {
      if (chain.length != 1 || !only.equals(chain[0])) {
        throw new CertificateException("another cluster secret");
      }
    }

    @Override
    public X509Certificate[] getAcceptedIssuers() {
      return new X509Certificate[0];
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type)
        throws CertificateException {
      check(chain);
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type)
        throws CertificateException {
      check(chain);
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type, Socket socket)
        throws CertificateException {
      check(chain);
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type, Socket socket)
        throws CertificateException {
      check(chain);
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine)
        throws CertificateException {
      check(chain);
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine)
        throws CertificateException {
      check(chain);
    }
  }
}
