package io.holdfast.fs.allocate.node;

import io.holdfast.fs.FsException;
import io.holdfast.fs.allocate.Bounds;
import io.holdfast.fs.allocate.NodeAllocation.Change;
import io.holdfast.fs.allocate.NodeBudget;
import io.holdfast.fs.allocate.NodeBudget.Member;
import io.holdfast.fs.allocate.NodeSettings;
import io.holdfast.fs.client.TaskClient;
import io.holdfast.fs.control.ControlDirectory;
import io.holdfast.fs.control.RunningDaemon;
import io.holdfast.fs.doctor.Promises;
import io.holdfast.fs.doctor.Subject;
import io.holdfast.fs.host.CliException;
import io.holdfast.fs.host.Host;
import io.holdfast.fs.host.OwnProcess;
import io.holdfast.fs.settings.Given;
import io.holdfast.fs.settings.SettingTable;
import io.holdfast.fs.settings.Settings;
import io.holdfast.fs.settings.SettingsException;
import io.holdfast.fs.settings.request.MountRequest;
import io.holdfast.fs.settings.request.NodeFile;
import io.holdfast.fs.units.Human;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Has a new mount take its part of the node's budget, and those that joined before make room. A
 * mount with a capacity of its own takes that. What it takes is reserved until it answers, so that
 * nobody else takes it meanwhile. Only mounts of this user make room. For one mount.
 */
public final class BudgetJoin {
  private static final Duration DEADLINE = Duration.ofSeconds(5);

  /** As long as a mount may take until it answers. */
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private static final long POLL_MILLIS = 100;
  private static final int MOST_NAMES = 4;

  private final OwnProcess process;
  private final Host host;
  private final PrintWriter err;

  /**
   * A mount that may begin.
   *
   * @param request with a capacity, if it has joined
   * @param notes lines for the user
   * @param reservation null where the node has no budget
   */
  public record Joined(
      MountRequest request, List<String> notes, Reservations.@Nullable Reservation reservation)
      implements AutoCloseable {

    /** Ends the reservation: the mount answers, or there will be none. */
    @Override
    public void close() {
      if (reservation != null) {
        reservation.close();
      }
    }
  }

  /**
   * Prepares.
   *
   * @param err where the user sees how far others are that make room
   */
  public BudgetJoin(OwnProcess process, PrintWriter err) {
    this.process = process;
    this.host = process.host();
    this.err = err;
  }

  /**
   * Takes the part of a mount. A mount that is about to begin cannot make room, so this waits until
   * that mount answers.
   *
   * @throws CliException where nothing is left, or the node's file is wrong
   * @throws FsException where nothing can be reserved
   */
  public Joined join(MountRequest request) throws FsException {
    boolean own = request.given().get(SettingTable.CAPACITY).isPresent();
    Path file = NodeFile.ofMounts(host).orElse(null);
    if (file == null) {
      return new Joined(request, List.of(), null);
    }
    NodeSettings said;
    try {
      said = NodeFile.read(host);
    } catch (CliException | SettingsException e) {
      if (!own) {
        throw e;
      }
      return new Joined(
          request, List.of(e.getMessage() + ": the node's budget is not looked at"), null);
    }
    if (said.memory().isEmpty()) {
      return new Joined(request, List.of(), null);
    }
    Settings settings = request.settings();
    Budget budget = new Budget(file, said, settings);
    long end = System.nanoTime() + PATIENCE.toNanos();
    Set<String> waitedFor = Set.of();
    while (true) {
      try (Reservations turn = Reservations.await(process)) {
        boolean patient = !own && System.nanoTime() < end;
        Node node = look(budget, turn, patient);
        if (own) {
          return own(request, budget, node, turn);
        }
        NodeBudget.Part part =
            node.budget().join(budget.bounds()).orElseThrow(() -> noRoom(budget, node));
        if (part.changes().stream().map(Change::mount).noneMatch(node.begun()::contains)) {
          return joined(request, budget, node, part, turn);
        }
        if (!node.begun().equals(waitedFor)) {
          waitedFor = node.begun();
          end = System.nanoTime() + PATIENCE.toNanos();
        }
      }
      if (!process.pause(POLL_MILLIS)) {
        throw CliException.couldNot("interrupted while another mount begins");
      }
    }
  }

  /** A mount with a capacity of its own is never refused. */
  private Joined own(MountRequest request, Budget budget, Node node, Reservations turn) {
    List<String> notes = new ArrayList<>();
    long capacity = budget.settings().get(SettingTable.CAPACITY);
    long left = makeRoom(node, node.budget().makeRoom(capacity), notes);
    if (left < capacity) {
      notes.add(
          "the mounts have %s together, more than %s: fix: 'holdfast allocate --apply', a smaller --capacity, or a higher 'memory' there"
              .formatted(Human.bytes(node.budget().bytes() - left + capacity), budget));
    }
    return new Joined(
        request, notes, turn.reserve(budget.name(), new Reservations.Reserved(capacity, false)));
  }

  private Joined joined(
      MountRequest request, Budget budget, Node node, NodeBudget.Part part, Reservations turn) {
    List<String> notes = new ArrayList<>();
    long left = makeRoom(node, part.changes(), notes);
    if (left < part.bytes()) {
      throw CliException.couldNot(
          "%s: so '%s' cannot have %s of %s: mount again, or give --capacity"
              .formatted(
                  String.join("; ", notes), budget.name(), Human.bytes(part.bytes()), budget));
    }
    notes.add("'%s' has %s of %s".formatted(budget.name(), Human.bytes(part.bytes()), budget));
    if (node.unknown() > 0) {
      notes.add(
          "not counted in the node's budget: %s, of other users or without an answer"
              .formatted(Human.count(node.unknown(), "mount")));
    }
    return new Joined(
        request.with(Given.ofNodeBudget(part.bytes(), budget.file())),
        notes,
        turn.reserve(budget.name(), new Reservations.Reserved(part.bytes(), true)));
  }

  private static CliException noRoom(Budget budget, Node node) {
    List<Member> members = node.budget().members();
    String have =
        members.stream()
            .limit(MOST_NAMES)
            .map(member -> member.name() + " " + Human.bytes(member.bytes()))
            .collect(Collectors.joining(", "));
    return CliException.couldNot(
        "%s has no room for '%s', which needs %s at least%s: raise 'memory' there, umount a mount, or give --capacity"
            .formatted(
                budget,
                budget.name(),
                Human.bytes(NodeBudget.floor(budget.bounds())),
                members.isEmpty()
                    ? ""
                    : ": others have %s%s"
                        .formatted(have, members.size() > MOST_NAMES ? ", ..." : "")));
  }

  /**
   * The budget that a mount joins.
   *
   * @param file what names it
   * @param said what the file says
   * @param settings of the mount
   */
  private record Budget(Path file, NodeSettings said, Settings settings) {
    String name() {
      return settings.get(SettingTable.NAME);
    }

    /** A mount takes no more than its ceiling for all memory leaves. */
    Bounds bounds() {
      return said.of(name()).within(settings.get(SettingTable.MEMORY_MIN), settings.room());
    }

    Bounds boundsOf(Promises.Mount mount) {
      return said.of(mount.name()).within(mount.least(), Long.MAX_VALUE);
    }

    @Override
    public String toString() {
      return "the node's budget of %s (%s)".formatted(Human.bytes(memory()), file);
    }

    long memory() {
      return said.memory().orElseThrow();
    }
  }

  /**
   * The mounts that count.
   *
   * @param begun names of mounts that do not answer yet, and can give memory up once they do
   * @param unknown how many do not tell their capacity
   */
  private record Node(NodeBudget budget, Set<String> begun, int unknown) {}

  /**
   * Finds out what mounts have. Reservations come first, and answers last: a mount that goes on
   * meanwhile is there twice, and not missed.
   *
   * @param patient whether to wait for mounts that do not answer yet
   */
  private Node look(Budget budget, Reservations turn, boolean patient) {
    ControlDirectory control = host.control();
    Map<Path, Member> members = new LinkedHashMap<>();
    Set<String> begun = new HashSet<>();
    Map<String, Reservations.Reserved> notYet = turn.all();
    Promises promises = ask();
    notYet.forEach(
        (name, memory) -> {
          boolean joins = patient && memory.joins();
          Bounds bounds = joins ? budget.said().of(name) : Bounds.NONE;
          members.put(control.socket(name), new Member(name, memory.bytes(), joins, bounds));
          if (joins) {
            begun.add(name);
          }
        });
    for (Promises.Mount mount : promises.mounts()) {
      Path socket = mount.socket();
      if (socket != null && (mount.answered() || !members.containsKey(socket))) {
        boolean joined = mount.joined() && isOwn(socket);
        // a daemon may say anything
        long bytes = Math.max(0, Math.min(mount.capacity(), host.memory()));
        members.put(socket, new Member(mount.name(), bytes, joined, budget.boundsOf(mount)));
        if (isOwn(socket)) {
          begun.remove(mount.name());
        }
      }
    }
    members.remove(control.socket(budget.name()));
    return new Node(
        new NodeBudget(budget.memory(), List.copyOf(members.values())), begun, promises.unknown());
  }

  /**
   * Root's budget is for all mounts of the machine, and that of another user for the user's own.
   */
  private Promises ask() {
    List<Subject> subjects =
        ExaminedMachine.of(host).finder().mounts().stream()
            .filter(subject -> host.uid() == 0 || isOwn(subject.socket()))
            .toList();
    try {
      return Promises.ask(subjects, DEADLINE);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw CliException.couldNot("interrupted", e);
    }
  }

  private boolean isOwn(@Nullable Path socket) {
    return socket != null && host.control().path().equals(socket.getParent());
  }

  /** Has mounts give memory up; returns the bytes that no mount has then. */
  private long makeRoom(Node node, List<Change> changes, List<String> notes) {
    long left = node.budget().left();
    for (Change change : changes) {
      String failure = make(change);
      left -= failure.isEmpty() ? change.more() : 0;
      notes.add(
          new CapacityChanges.Outcome(
                  change, failure.isEmpty() ? change.to() : change.from(), failure, false)
              .line());
    }
    return left;
  }

  /** Makes a change; returns why it could not be made, or nothing. */
  private String make(Change change) {
    Optional<RunningDaemon> daemon = host.control().running(change.mount());
    if (daemon.isEmpty()) {
      return "its daemon has ended";
    }
    try {
      new TaskClient(process, daemon.get(), err)
          .run("giving up", CapacityChanges.request(change), Collections.emptyIterator());
      return "";
    } catch (CliException e) {
      return String.valueOf(e.getMessage());
    }
  }
}
