package io.holdfast.peer.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.peer.ClusterSecret;
import io.holdfast.peer.Credentials;
import io.holdfast.peer.NodeAddress;
import io.holdfast.peer.PeerSetupException;
import io.holdfast.peer.SharedDataset;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import javax.crypto.SecretKey;

/** Nodes on loopback for tests, and their surroundings; closes everything that it made. */
final class Nodes implements AutoCloseable {
  static final SharedDataset DATASET = new SharedDataset("imagenet", 8 << 20);
  static final String TAG = "10-abc";
  static final Credentials SECRET = secret("correct horse battery staple");
  static final Credentials OTHER_SECRET = secret("another horse, another staple");

  /** Longer than any test. */
  static final Transfer.Deadlines PATIENT = deadlines(60_000, 60_000, 60_000);

  private final Deque<AutoCloseable> made = new ArrayDeque<>();
  private final Deque<ByteBuf> memory = new ArrayDeque<>();

  /** A node with the items that it serves. */
  record TestNode(Transfer transfer, ShelfProvider shelf, NodeAddress address) {
    byte[] put(String path, int length) {
      byte[] bytes = new byte[length];
      new Random(length).nextBytes(bytes);
      shelf.items.put(path(path), bytes);
      return bytes;
    }

    /** Asks a peer; the future never completes exceptionally. */
    CompletableFuture<TransferResult> ask(
        NodeAddress peer, Sketches sketches, ItemRequest request, long memory) {
      CompletableFuture<TransferResult> outcome = new CompletableFuture<>();
      transfer.fetch(peer, sketches, request, memory, outcome::complete);
      return outcome;
    }
  }

  static Credentials secret(String text) {
    try {
      return new Credentials(ClusterSecret.of("test", text.getBytes(StandardCharsets.UTF_8)), null);
    } catch (PeerSetupException e) {
      throw new AssertionError(e);
    }
  }

  static SecretKey key(Credentials credentials) {
    ClusterSecret secret = credentials.secret();
    assertThat(secret).isNotNull();
    return Seal.key(secret.key("data plane"));
  }

  static ItemPath path(String text) {
    return ItemPath.of(text.getBytes(StandardCharsets.UTF_8));
  }

  static ItemRequest whole(String path, int length) {
    return part(path, length, 0, length);
  }

  static ItemRequest part(String path, int itemLength, int from, int length) {
    return new ItemRequest(DATASET, path(path), 0, TAG, itemLength, from, length, false);
  }

  static NodeAddress free(String host) {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getByName(host))) {
      return new NodeAddress(host, socket.getLocalPort());
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  /** A node that waits for longer than any test. */
  static Transfer.Config config(NodeAddress address, Credentials credentials) {
    return new Transfer.Config(address, DATASET, credentials, PATIENT, Transfer.Limits.DEFAULT);
  }

  /** Starts a node that waits for as long as a busy machine may take. */
  TestNode start(String host) {
    return start(config(free(host), SECRET));
  }

  TestNode start(Transfer.Config config) {
    return start(config, config.listen().resolve());
  }

  /** Starts a node that its peers reach by something in between. */
  TestNode start(Transfer.Config config, InetSocketAddress bind) {
    return start(config, bind, NodeAddress::resolve);
  }

  /** Starts a node that looks its peers' names up in a way of its own. */
  TestNode start(
      Transfer.Config config,
      InetSocketAddress bind,
      Function<NodeAddress, InetSocketAddress> lookup) {
    ShelfProvider shelf = new ShelfProvider();
    try {
      Transfer transfer = Transfer.start(config, shelf, bind, lookup);
      made.push(shelf);
      made.push(transfer);
      return new TestNode(transfer, shelf, config.listen());
    } catch (PeerSetupException e) {
      throw new AssertionError(e);
    }
  }

  /** Returns a gate that the test opens; the end of the test opens it in any case. */
  CompletableFuture<Void> gate() {
    CompletableFuture<Void> gate = new CompletableFuture<>();
    made.push(() -> gate.complete(null));
    return gate;
  }

  /** A node that waits for little. */
  Transfer.Config hasty(String host) {
    return new Transfer.Config(
        free(host), DATASET, SECRET, deadlines(20_000, 1000, 60_000), Transfer.Limits.DEFAULT);
  }

  /** A node that waits for long, but not for the head of an answer, nor for its own provider. */
  Transfer.Config wantsAnswers(String host, long answerMillis) {
    return new Transfer.Config(
        free(host),
        DATASET,
        SECRET,
        deadlines(60_000, 60_000, answerMillis),
        Transfer.Limits.DEFAULT);
  }

  /** A node that waits for long, but not for all of an answer, nor for its own provider. */
  Transfer.Config wantsAll(String host, Duration answer, Duration total) {
    return new Transfer.Config(
        free(host),
        DATASET,
        SECRET,
        new Transfer.Deadlines(PATIENT.connect(), PATIENT.progress(), answer, total),
        Transfer.Limits.DEFAULT);
  }

  <T extends AutoCloseable> T closing(T each) {
    made.push(each);
    return each;
  }

  /** Memory that is freed at the end, full of a byte that no test expects to be changed. */
  ByteBuf memory(int length) {
    ByteBuf each = Unpooled.directBuffer(Math.max(1, length));
    while (each.isWritable()) {
      each.writeByte(0x5a);
    }
    memory.push(each);
    return each;
  }

  static byte[] bytes(ByteBuf memory, int length) {
    byte[] bytes = new byte[length];
    memory.getBytes(0, bytes);
    return bytes;
  }

  static TransferResult await(CompletableFuture<TransferResult> outcome) {
    return outcome.orTimeout(70, TimeUnit.SECONDS).join();
  }

  static TransferResult fetch(TestNode from, NodeAddress peer, ItemRequest request, ByteBuf into) {
    return await(from.ask(peer, Sketches.NONE, request, into.memoryAddress()));
  }

  static Transfer.Deadlines deadlines(long connectMillis, long progressMillis, long answerMillis) {
    return new Transfer.Deadlines(
        Duration.ofMillis(connectMillis),
        Duration.ofMillis(progressMillis),
        Duration.ofMillis(answerMillis),
        Duration.ofMillis(answerMillis + 60_000));
  }

  @Override
  public void close() {
    List<Throwable> failures = new ArrayList<>();
    while (!made.isEmpty()) {
      try {
        made.pop().close();
      } catch (Exception | AssertionError e) {
        failures.add(e);
      }
    }
    memory.forEach(ByteBuf::release);
    assertThat(failures).isEmpty();
  }
}
