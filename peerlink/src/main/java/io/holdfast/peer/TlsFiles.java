package io.holdfast.peer;

import java.nio.file.Path;

/**
 * Files for mutual TLS, all PEM. Immutable.
 *
 * @param certificate this node's certificate, with the chain behind it; it names the host that the
 *     node listens at
 * @param key its private key, PKCS #8, without a password
 * @param authority the certificates that sign those of every node
 */
public record TlsFiles(Path certificate, Path key, Path authority) {}
