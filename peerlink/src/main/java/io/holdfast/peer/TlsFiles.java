package io.holdfast.peer;

import java.nio.file.Path;

/**
 * Files for mutual TLS, all PEM. Immutable.
 *
 * @param certificate this node's certificate, followed by its chain; it names the host that the
 *     node listens at
 * @param key the certificate's private key, PKCS #8, without a password
 * @param authority the certificates of the authority that signs every node's certificate
 */
public record TlsFiles(Path certificate, Path key, Path authority) {}
