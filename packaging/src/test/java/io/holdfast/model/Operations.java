package io.holdfast.model;

import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.state.Action;
import net.jqwik.api.state.ActionChain;
import net.jqwik.api.state.ActionChainArbitrary;
import net.jqwik.api.state.Transformer;

/** Chains of random operations. What fails is shrunk to the operations that it takes. */
final class Operations {
  /** Every name that there will be; some have letters of two, three and four bytes. */
  static final List<String> NAMES =
      List.of("a", "b", "ü ñ", "文件", "d", "d/a", "d/b", "d/🐟", "d/e", "d/e/a", "f", "f/a");

  private static final int READERS = 3;

  private final Arbitrary<String> names = Arbitraries.of(NAMES);
  private final Arbitrary<String> places = Arbitraries.of("", "d", "d/e", "f", "a");
  private final Arbitrary<Integer> slots = Arbitraries.integers().between(0, Session.SLOTS - 1);
  private final Arbitrary<Integer> sizes;
  private final Arbitrary<Integer> offsets;
  private final Arbitrary<Long> capacities;

  /**
   * Prepares them.
   *
   * @param item bytes of an item of a large file
   */
  private Operations(int item) {
    sizes =
        Arbitraries.oneOf(
            Arbitraries.of(0, 1, 4095, 4096, 4097, item - 1, item, item + 1, 2 * item),
            Arbitraries.integers().between(0, 3 * item + 10_000));
    offsets =
        Arbitraries.oneOf(
            Arbitraries.of(0, 1, 4095, 4096, item - 1, item, item + 1),
            Arbitraries.integers().between(0, 4 * item));
    capacities = Arbitraries.of(1L, 2L, 8L, 64L).map(items -> items * item);
  }

  /** Makes chains for a system; each run of a chain begins with the state that is given. */
  static ActionChainArbitrary<Session> chains(
      int itemSize, int longest, Supplier<? extends Session> start) {
    Operations all = new Operations(itemSize);
    return ActionChain.<Session>startWith(start)
        .withAction(6, all.replace())
        .withAction(2, all.edit())
        .withAction(2, all.remove())
        .withAction(1, all.directory())
        .withAction(1, all.link())
        .withAction(2, all.move())
        .withAction(5, all.look())
        .withAction(1, all.readLink())
        .withAction(3, all.list())
        .withAction(4, all.open())
        .withAction(8, all.read())
        .withAction(1, all.lookAtOpen())
        .withAction(1, all.close())
        .withAction(6, all.readWhole())
        .withAction(2, all.readAllAtOnce())
        .withAction(4, all.refresh())
        .withAction(2, all.capacity())
        .withAction(1, all.peer())
        .withMaxTransformations(longest);
  }

  private static Transformer<Session> step(String what, Consumer<Session> step) {
    return Transformer.mutate(what, session -> session.step(step));
  }

  private static Action.Independent<Session> action(Arbitrary<Transformer<Session>> steps) {
    return () -> steps;
  }

  private Action.Independent<Session> replace() {
    return action(
        Combinators.combine(names, sizes)
            .as((name, size) -> step("put " + name + " of " + size, s -> s.replace(name, size))));
  }

  private Action.Independent<Session> edit() {
    return action(
        Combinators.combine(names, Arbitraries.of(Session.Edit.class), sizes)
            .as(
                (name, edit, size) ->
                    step(edit + " " + name + " " + size, s -> s.edit(name, edit, size))));
  }

  private Action.Independent<Session> remove() {
    return action(names.map(name -> step("remove " + name, s -> s.remove(name))));
  }

  private Action.Independent<Session> directory() {
    return action(names.map(name -> step("mkdir " + name, s -> s.directory(name))));
  }

  private Action.Independent<Session> link() {
    Arbitrary<String> targets = Arbitraries.of("nowhere", "no/where");
    return action(
        Combinators.combine(names, targets)
            .as((name, to) -> step("link " + name + " " + to, s -> s.link(name, to))));
  }

  private Action.Independent<Session> move() {
    return action(
        Combinators.combine(names, names)
            .as((from, to) -> step("mv " + from + " " + to, s -> s.move(from, to))));
  }

  private Action.Independent<Session> look() {
    return action(names.map(name -> step("stat " + name, s -> s.look(name))));
  }

  private Action.Independent<Session> readLink() {
    return action(names.map(name -> step("readlink " + name, s -> s.readLink(name))));
  }

  private Action.Independent<Session> list() {
    return action(places.map(name -> step("ls " + name, s -> s.list(name))));
  }

  private Action.Independent<Session> open() {
    return action(
        Combinators.combine(slots, names)
            .as((slot, name) -> step("open " + slot + " " + name, s -> s.open(slot, name))));
  }

  private Action.Independent<Session> read() {
    return action(
        Combinators.combine(slots, offsets, sizes)
            .as(
                (slot, offset, length) ->
                    step(
                        "read %d at %d,+%d".formatted(slot, offset, length),
                        s -> s.read(slot, offset, length))));
  }

  private Action.Independent<Session> lookAtOpen() {
    return action(slots.map(slot -> step("fstat " + slot, s -> s.lookAtOpen(slot))));
  }

  private Action.Independent<Session> close() {
    return action(slots.map(slot -> step("close " + slot, s -> s.close(slot))));
  }

  private Action.Independent<Session> readWhole() {
    return action(names.map(name -> step("cat " + name, s -> s.readWhole(name))));
  }

  private Action.Independent<Session> readAllAtOnce() {
    return action(Arbitraries.just(step("cat all", s -> s.readAllAtOnce(READERS))));
  }

  private Action.Independent<Session> refresh() {
    Arbitrary<String> which = Arbitraries.oneOf(Arbitraries.just(""), names);
    return action(which.map(name -> step("refresh '" + name + "'", s -> s.refresh(name))));
  }

  private Action.Independent<Session> capacity() {
    return action(capacities.map(bytes -> step("capacity " + bytes, s -> s.capacity(bytes))));
  }

  private Action.Independent<Session> peer() {
    return action(
        Arbitraries.of(true, false).map(up -> step(up ? "peer up" : "peer down", s -> s.peer(up))));
  }
}
