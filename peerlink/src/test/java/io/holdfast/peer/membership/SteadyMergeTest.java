package io.holdfast.peer.membership;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.jgroups.Address;
import org.jgroups.Event;
import org.jgroups.Message;
import org.jgroups.View;
import org.jgroups.protocols.PingData;
import org.jgroups.stack.IpAddress;
import org.jgroups.stack.Protocol;
import org.jgroups.util.UUID;
import org.junit.jupiter.api.Test;

final class SteadyMergeTest {
  static {
    KnownTypes.install();
  }

  private final List<Address> told = new ArrayList<>();
  private final AtomicLong now = new AtomicLong();
  private final Address self = UUID.randomUUID();
  private final SteadyMerge merge =
      new SteadyMerge(now::get) {
        {
          local_addr = self;
          view = View.create(self, 1, self);
        }
      };

  /**
   * Each of N nodes answers a question with all N nodes, and was told the view of the one who had
   * asked each time that an answer named it: N² messages from each node, every two seconds.
   */
  @Test
  void sendInfoMessage_manyAnswersNameANode_tellsItOnceARound() throws Exception {
    merge.setDownProtocol(
        new Protocol() {
          @Override
          public Object down(Event event) {
            return null;
          }

          @Override
          public Object down(Message message) {
            told.add(message.getDest());
            return null;
          }
        });
    merge.setMinInterval(1000);
    IpAddress one = new IpAddress("127.0.0.2", 7071);
    IpAddress two = new IpAddress("127.0.0.3", 7071);
    for (int answers = 0; answers < 300; answers++) {
      merge.sendInfoMessage(new PingData(UUID.randomUUID(), true, "one", one));
      merge.sendInfoMessage(new PingData(UUID.randomUUID(), true, "two", two));
    }
    assertThat(told).containsExactly(one, two);
    now.set(1_000_000_000);
    merge.sendInfoMessage(new PingData(UUID.randomUUID(), true, "one", one));
    assertThat(told).containsExactly(one, two, one);
  }
}
