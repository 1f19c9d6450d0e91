package io.holdfast.peer.membership;

import java.io.DataInput;
import java.io.IOException;
import java.util.Arrays;
import java.util.function.Supplier;
import org.jgroups.BytesMessage;
import org.jgroups.EmptyMessage;
import org.jgroups.Global;
import org.jgroups.Message;
import org.jgroups.MessageFactory;
import org.jgroups.ObjectMessage;
import org.jgroups.conf.ClassConfigurator;
import org.jgroups.protocols.AuthHeader;
import org.jgroups.util.Digest;
import org.jgroups.util.SeqnoList;
import org.jgroups.util.SizeStreamable;

/**
 * Restricts the types that members may send. JGroups reads messages of eight kinds, headers of
 * fifty, and objects of every class that a member names, by Java's serialization too, before a
 * receiver sees the message. So a compromised member could run code in all others. With this
 * factory, a member's message is bytes, nothing, or one of the two objects that the protocols of
 * {@link ClusterStack} send. Any other message is refused where it is read, and the connection goes
 * on with the next message.
 */
final class KnownTypes extends MessageFactory {
  private static final String HEADERS = "io/holdfast/peer/membership/jgroups-types.xml";

  private KnownTypes() {}

  /**
   * Installs the restriction in the whole process. Must precede the first protocol, with which
   * JGroups reads its list of headers.
   */
  static synchronized void install() {
    System.setProperty(Global.MAGIC_NUMBER_FILE, HEADERS);
    if (ClassConfigurator.getMagicNumber(AuthHeader.class) >= 0) {
      throw new IllegalStateException("JGroups has been used before its headers were restricted");
    }
    Arrays.fill(creators, null);
    creators[Message.BYTES_MSG] = Bytes::new;
    creators[Message.EMPTY_MSG] = EmptyMessage::new;
    creators[Message.OBJ_MSG] = KnownObject::new;
  }

  /** A message of bytes, which stay bytes whatever the message's flags say. */
  private static final class Bytes extends BytesMessage {
    @Override
    public Supplier<Message> create() {
      return Bytes::new;
    }

    @Override
    public void readPayload(DataInput in) throws IOException {
      clearFlag(Flag.SERIALIZED);
      int length = in.readInt();
      if (length > ClusterStack.LONGEST_MESSAGE_BYTES) {
        throw new IOException("a message of " + length + " bytes");
      }
      if (length >= 0) {
        byte[] bytes = new byte[length];
        in.readFully(bytes);
        setArray(bytes, 0, length);
      }
    }
  }

  /** A message with an object: the missing messages, or those received. */
  private static final class KnownObject extends ObjectMessage {
    @Override
    public Supplier<Message> create() {
      return KnownObject::new;
    }

    @Override
    public void readPayload(DataInput in) throws IOException, ClassNotFoundException {
      clearFlag(Flag.SERIALIZED);
      if (in.readByte() != 0) {
        short type = in.readShort();
        Object sent = type < 0 ? null : ClassConfigurator.create(type);
        if (!(sent instanceof SeqnoList) && !(sent instanceof Digest)) {
          throw new IOException(
              "a member sent an object of a type that it has no use for: " + type);
        }
        SizeStreamable known = (SizeStreamable) sent;
        known.readFrom(in);
        setObject(known);
      }
    }
  }
}
