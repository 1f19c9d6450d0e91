package io.holdfast.peer;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import java.util.concurrent.atomic.AtomicLong;
import org.bouncycastle.asn1.x500.X500Name;
import org.bouncycastle.asn1.x509.BasicConstraints;
import org.bouncycastle.asn1.x509.Extension;
import org.bouncycastle.asn1.x509.GeneralName;
import org.bouncycastle.asn1.x509.GeneralNames;
import org.bouncycastle.cert.X509CertificateHolder;
import org.bouncycastle.cert.jcajce.JcaX509v3CertificateBuilder;
import org.bouncycastle.openssl.jcajce.JcaPEMWriter;
import org.bouncycastle.openssl.jcajce.JcaPKCS8Generator;
import org.bouncycastle.operator.OperatorCreationException;
import org.bouncycastle.operator.jcajce.JcaContentSignerBuilder;
import org.bouncycastle.util.io.pem.PemObjectGenerator;
import org.jspecify.annotations.Nullable;

/** A certificate authority for tests: makes the files of nodes in a directory. */
public final class TestAuthority {
  private static final AtomicLong SERIAL = new AtomicLong(1);

  private final Path directory;
  private final String name;
  private final KeyPair keys;
  private final Path file;

  /** Makes an authority whose files are in a directory. */
  public TestAuthority(Path directory, String name) {
    this.directory = directory;
    this.name = name;
    keys = keyPair();
    file = directory.resolve(name + "-ca.pem");
    Instant now = Instant.now();
    write(file, certificate(name, keys, now.minusSeconds(60), now.plusSeconds(3600), null));
  }

  /** Makes a certificate that is valid for an hour, for hosts: names, or addresses. */
  public TlsFiles issue(String... hosts) {
    Instant now = Instant.now();
    return issue(now.minusSeconds(60), Duration.ofHours(1), hosts);
  }

  /** Makes a certificate. */
  public TlsFiles issue(Instant from, Duration valid, String... hosts) {
    String node = name + "-" + SERIAL.incrementAndGet();
    KeyPair own = keyPair();
    GeneralName[] names = new GeneralName[hosts.length];
    for (int i = 0; i < hosts.length; i++) {
      boolean ip = hosts[i].indexOf(':') >= 0 || hosts[i].matches("[0-9.]+");
      names[i] = new GeneralName(ip ? GeneralName.iPAddress : GeneralName.dNSName, hosts[i]);
    }
    Path certificate = directory.resolve(node + ".pem");
    Path key = directory.resolve(node + "-key.pem");
    write(certificate, certificate(node, own, from, from.plus(valid), new GeneralNames(names)));
    try {
      write(key, new JcaPKCS8Generator(own.getPrivate(), null));
      Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-------"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return new TlsFiles(certificate, key, file);
  }

  private X509CertificateHolder certificate(
      String subject, KeyPair of, Instant from, Instant to, @Nullable GeneralNames names) {
    try {
      JcaX509v3CertificateBuilder builder =
          new JcaX509v3CertificateBuilder(
              new X500Name("CN=" + name),
              BigInteger.valueOf(SERIAL.incrementAndGet()),
              Date.from(from),
              Date.from(to),
              new X500Name("CN=" + subject),
              of.getPublic());
      builder.addExtension(Extension.basicConstraints, true, new BasicConstraints(names == null));
      if (names != null) {
        builder.addExtension(Extension.subjectAlternativeName, false, names);
      }
      return builder.build(new JcaContentSignerBuilder("SHA256withECDSA").build(keys.getPrivate()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (OperatorCreationException e) {
      throw new IllegalStateException(e);
    }
  }

  private static KeyPair keyPair() {
    try {
      KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
      generator.initialize(256);
      return generator.generateKeyPair();
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  private static void write(Path file, Object pem) {
    try (Writer writer = Files.newBufferedWriter(file);
        JcaPEMWriter out = new JcaPEMWriter(writer)) {
      if (pem instanceof PemObjectGenerator generator) {
        out.writeObject(generator);
      } else {
        out.writeObject(pem);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
