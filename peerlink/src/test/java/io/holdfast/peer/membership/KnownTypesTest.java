package io.holdfast.peer.membership;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.ObjectInputStream;
import java.io.Serializable;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jgroups.Address;
import org.jgroups.BytesMessage;
import org.jgroups.JChannel;
import org.jgroups.Message;
import org.jgroups.ObjectMessage;
import org.jgroups.Receiver;
import org.jgroups.conf.ClassConfigurator;
import org.jgroups.protocols.pbcast.STABLE;
import org.jgroups.util.SizeStreamable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * A member that was taken over sends objects that run code where they are read. No other member
 * makes one, by no way there is, and both stay members.
 */
final class KnownTypesTest {
  private static final AtomicInteger MADE = new AtomicInteger();

  /** Magic number of the header that names a class of its own. */
  private static final short AUTHENTICATION = 66;

  private final Cluster cluster = new Cluster();

  @AfterEach
  void tearDown() {
    cluster.close();
  }

  /** Read by Java's serialization. */
  static final class Serialized implements Serializable {
    private static final long serialVersionUID = 1;

    private void readObject(ObjectInputStream in) {
      MADE.incrementAndGet();
    }
  }

  /** Made by the name of its class. */
  public static final class Named implements SizeStreamable {
    @Override
    public int serializedSize() {
      return 0;
    }

    @Override
    public void writeTo(DataOutput out) {
      // has no content
    }

    @Override
    public void readFrom(DataInput in) {
      MADE.incrementAndGet();
    }
  }

  @Test
  void objectMessage_fromMember_isNotDeserialized() throws Exception {
    JGroupsMembership one = cluster.join(1, cluster.named(1, 2));
    JGroupsMembership two = cluster.join(2, cluster.named(1, 2));
    cluster.assertSees(one, 1, 2);
    cluster.assertSees(two, 1, 2);
    Address to = two.channel().getAddress();
    assertRefused(one, two, new ObjectMessage(to, new Serialized()));
    assertRefused(one, two, new ObjectMessage(to, new Named()));
    // bytes that say they are an object, for the protocol that asks for one
    assertRefused(
        one,
        two,
        new BytesMessage(to)
            .setObject(new Serialized())
            .putHeader(
                ClassConfigurator.getProtocolId(STABLE.class),
                new STABLE.StableHeader(
                    STABLE.StableHeader.STABLE_GOSSIP, one.channel().getView().getViewId())));
    cluster.assertSees(one, 1, 2);
    cluster.assertSees(two, 1, 2);
  }

  /**
   * Checks that a node refuses a message: when the next message on the same connection has been
   * read, this one has been read too.
   */
  private static void assertRefused(JGroupsMembership from, JGroupsMembership to, Message message)
      throws Exception {
    CountDownLatch next = new CountDownLatch(1);
    to.channel().setReceiver(receiver(next));
    JChannel channel = from.channel();
    channel.send(message.setFlag(Message.Flag.OOB, Message.Flag.NO_RELIABILITY));
    channel.send(message.getDest(), "next".getBytes(StandardCharsets.US_ASCII));
    assertThat(next.await(Cluster.LONGEST.toSeconds(), TimeUnit.SECONDS)).isTrue();
    assertThat(MADE).hasValue(0);
  }

  private static Receiver receiver(CountDownLatch next) {
    return new Receiver() {
      @Override
      public void receive(Message message) {
        next.countDown();
      }
    };
  }

  @Test
  void messagesAndHeaders_thatNoProtocolUses_areNotMade() {
    KnownTypes.install();
    for (short type :
        List.of(
            Message.NIO_MSG,
            Message.LONG_MSG,
            Message.COMPOSITE_MSG,
            Message.FRAG_MSG,
            Message.EARLYBATCH_MSG)) {
      assertThatExceptionOfType(IllegalArgumentException.class)
          .isThrownBy(() -> org.jgroups.MessageFactory.create(type));
    }
    assertThatExceptionOfType(ClassNotFoundException.class)
        .isThrownBy(() -> ClassConfigurator.create(AUTHENTICATION));
  }
}
