package io.holdfast.architecture;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static java.util.stream.Collectors.toSet;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.AccessTarget.MethodCallTarget;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaConstructorCall;
import com.tngtech.archunit.core.domain.JavaMethodCall;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

final class ArchitectureTest {

  private static final String FS = "io.holdfast.fs";

  /**
   * The packages of fs that each package may use. A new arrow is a decision to take, not a line to
   * add.
   */
  private static final Map<String, Set<String>> ARROWS =
      Map.ofEntries(
          // Below all: errors and replies, how people write numbers, the system calls.
          arrow(""),
          arrow("units"),
          arrow("linux", ""),
          // Programs in the kernel.
          arrow("bpf", "", "linux"),
          // The figures of a mount: types alone, made by the parts that own the numbers.
          arrow("figures"),
          // The dataset's store, and its metadata.
          arrow("origin", ""),
          arrow("origin.posix", "", "linux", "origin"),
          arrow("origin.s3", "", "linux", "origin"),
          arrow("tree", "", "figures", "linux", "origin"),
          // The bytes: on their way, and those that stay. Residency listens to what transit
          // fetched.
          arrow("transit", "", "figures", "linux", "origin"),
          arrow("residency", "", "linux", "origin", "transit"),
          // Items from other nodes, and for them.
          arrow(
              "peers",
              "",
              "figures",
              "linux",
              "origin",
              "plan",
              "residency",
              "transit",
              "tree",
              "units"),
          // What nodes keep that know the orders of all ranks.
          arrow("plan", "", "figures", "origin", "residency", "sampler", "stats", "transit"),
          // An admin's tasks on residents.
          arrow("tasks", "", "linux", "origin", "residency", "transit", "tree", "units"),
          // Fetches files ahead of jobs that have announced their orders.
          arrow(
              "orders",
              "",
              "figures",
              "linux",
              "origin",
              "plan",
              "residency",
              "sampler",
              "stats",
              "transit",
              "tree"),
          // The answers about them; programs in the kernel tell opens.
          arrow("stats", "", "bpf", "figures", "linux", "units"),
          arrow("control", "", "figures", "linux", "mount", "origin", "units"),
          arrow("metrics", "figures", "units", "web"),
          // HTTP, and the page of a mount, which gets its figures as bytes.
          arrow("web", "", "linux"),
          arrow("page", "", "web"),
          arrow("accesslog", "", "figures", "linux", "units"),
          // The ceiling, which has residents make way; called by ports.
          arrow("memory", "", "figures", "linux", "units"),
          // The port to the kernel, and its bindings.
          arrow("mount", "", "linux", "origin", "residency", "stats", "transit", "tree"),
          arrow("mount.jnr", "", "linux", "mount", "origin"),
          arrow("mount.kernel", "", "linux", "mount", "origin"),
          // The writable directory for checkpoints: a daemon of its own. Its operations know no
          // kernel.
          arrow("checkpoint", "", "linux", "origin.s3", "units"),
          arrow("checkpoint.kernel", "", "checkpoint", "linux", "mount", "mount.kernel"),
          arrow(
              "checkpoint.daemon",
              "",
              "checkpoint",
              "checkpoint.kernel",
              "control",
              // its supervisor's part
              "daemon",
              "linux",
              "metrics",
              "origin.s3",
              "units",
              "web"),
          // The settings of a mount, as given and as effective.
          arrow(
              "settings",
              "accesslog",
              "linux",
              "origin.s3",
              "peers",
              "residency",
              "stats",
              "units"),
          // The simulation: no mount, no daemon. It plays policies, and places items as peers do.
          arrow("simulate", "", "plot", "units"),
          // Charts as files, and nothing of what they show.
          arrow("plot", ""),
          // The log of a daemon, as lines that are safe to show.
          arrow("log", "accesslog", "figures", "settings", "units"),
          // How fast a job is, and would be: figures of its epochs go in. The one model for all.
          arrow("throughput", "figures"),
          // Why a job waits: a report of that.
          arrow("analyze", "figures", "plot", "throughput", "units"),
          // Computes the orders of samplers of frameworks: numbers alone.
          arrow("sampler"),
          // Divides a node's memory: takes a plan or figures, and returns a proposal.
          arrow("allocate", "analyze", "figures", "throughput", "units"),
          // Plays jobs on a cluster whose memory is divided in several ways.
          arrow("workload", "allocate", "plot", "units"),
          // The composition root knows all but what people type.
          arrow(
              "daemon",
              "",
              "accesslog",
              "bpf",
              "control",
              "figures",
              "linux",
              "memory",
              "metrics",
              "mount",
              "mount.jnr",
              "mount.kernel",
              "orders",
              "origin",
              "origin.posix",
              "origin.s3",
              "page",
              "peers",
              "plan",
              "residency",
              "settings",
              "stats",
              "tasks",
              "throughput",
              "transit",
              "tree",
              "units",
              "web"),
          // The doctor, and the archive for a bug report. Touches no mount.
          arrow("doctor", "", "bpf", "control", "daemon", "figures", "linux", "origin.s3", "units"),
          arrow("debug", "control", "daemon", "doctor", "linux", "units"),
          // Texts from the definition of the commands.
          arrow("manual"),
          // Changes of a mount's figures, and the speed of a mount.
          arrow("watch", "control", "figures", "units"),
          arrow("bench", "linux", "units"),
          arrow("accelerator", "linux", "units"),
          // The machine and the process of a command.
          arrow("host", "control", "daemon", "doctor", "linux", "units"),
          // Daemons as commands ask them.
          arrow("client", "", "control", "daemon", "host", "linux", "sampler", "units"),
          arrow(
              "watch.live", "", "client", "control", "figures", "host", "linux", "units", "watch"),
          // The settings that a mount is asked to have, and its start with these.
          arrow("settings.request", "allocate", "host", "linux", "settings", "units"),
          arrow(
              "start",
              "",
              "checkpoint.daemon",
              "control",
              "daemon",
              "doctor",
              "host",
              "linux",
              "log",
              "settings",
              "units"),
          // The models of a job and of a node's memory, with figures of daemons.
          arrow(
              "analyze.run",
              "analyze",
              "bench",
              "client",
              "control",
              "figures",
              "host",
              "linux",
              "throughput",
              "units"),
          arrow(
              "allocate.node",
              "",
              "allocate",
              "analyze",
              "analyze.run",
              "client",
              "control",
              "daemon",
              "doctor",
              "figures",
              "host",
              "linux",
              "settings",
              "settings.request",
              "start",
              "throughput",
              "units"),
          // The commands: they know all that they are about.
          arrow(
              "cli",
              "",
              "accelerator",
              "allocate",
              "allocate.node",
              "analyze",
              "analyze.run",
              "bench",
              "checkpoint",
              "checkpoint.daemon",
              "client",
              "control",
              "daemon",
              "debug",
              "doctor",
              "figures",
              "host",
              "linux",
              "log",
              "manual",
              "plot",
              "sampler",
              "settings",
              "settings.request",
              "simulate",
              "start",
              "throughput",
              "units",
              "watch",
              "watch.live",
              "workload"));

  private static final String MACHINE = "io.holdfast.it.Machine";

  private static final JavaClasses HOLDFAST =
      new ClassFileImporter()
          .withImportOption(new ImportOption.DoNotIncludeTests())
          .importPackages("io.holdfast.policy", "io.holdfast.peer", FS);

  static Stream<String> packagesOfFs() {
    return ARROWS.keySet().stream().sorted();
  }

  @ParameterizedTest
  @MethodSource("packagesOfFs")
  void fsPackage_usesOnlyWhatTheDesignAllows(String name) {
    String[] allowed =
        Stream.concat(Stream.of(name), ARROWS.get(name).stream())
            .map(ArchitectureTest::fullName)
            .toArray(String[]::new);
    noClasses()
        .that()
        .resideInAPackage(fullName(name))
        .should()
        .dependOnClassesThat(
            resideInAPackage(FS + "..")
                .and(
                    describe(
                        "outside " + List.of(allowed),
                        c -> !Set.of(allowed).contains(packageOf(c)))))
        .check(HOLDFAST);
  }

  /** An arrow that no package uses is out of date. */
  @ParameterizedTest
  @MethodSource("packagesOfFs")
  void fsPackage_usesAllThatTheDesignAllows(String name) {
    assertThat(ARROWS.get(name).stream().map(ArchitectureTest::fullName))
        .isSubsetOf(
            HOLDFAST.stream()
                .filter(c -> c.getPackageName().equals(fullName(name)))
                .flatMap(c -> c.getDirectDependenciesFromSelf().stream())
                .map(dependency -> packageOf(dependency.getTargetClass()))
                .collect(toSet()));
  }

  @Test
  void fsPackages_areAllInTheDesign() {
    assertThat(ARROWS.keySet().stream().map(ArchitectureTest::fullName))
        .containsExactlyInAnyOrderElementsOf(packagesUnder(FS));
  }

  @Test
  void fsPackages_haveNoCycles() {
    slices().matching(FS + ".(**)").should().beFreeOfCycles().check(HOLDFAST);
  }

  @Test
  void cachePolicy_usesOnlyTheJdkAndCaffeine() {
    classes()
        .that()
        .resideInAPackage("io.holdfast.policy..")
        .should()
        .onlyDependOnClassesThat(
            resideInAnyPackage(
                "io.holdfast.policy..",
                "java.lang..",
                "java.util..",
                "com.github.benmanes.caffeine..",
                "org.jspecify.annotations.."))
        .check(HOLDFAST);
  }

  /** Deterministic: the same calls give the same answers, at any time and on any machine. */
  @Test
  void cachePolicy_hasNoClockThreadLoggerOrRandomnessOfItsOwn() {
    noClasses()
        .that()
        .resideInAPackage("io.holdfast.policy..")
        .should()
        .dependOnClassesThat(
            resideInAnyPackage("java.util.concurrent..", "java.util.logging..")
                .or(describe("threads", c -> c.isEquivalentTo(Thread.class))))
        .orShould()
        .callMethod(System.class, "currentTimeMillis")
        .orShould()
        .callMethod(System.class, "nanoTime")
        .orShould()
        .callMethod(Math.class, "random")
        .orShould()
        .callConstructor(Random.class)
        .orShould()
        .callConstructor(SplittableRandom.class)
        .check(HOLDFAST);
  }

  @Test
  void jnrFuse_isKnownToItsAdapterOnly() {
    noClasses()
        .that()
        .resideOutsideOfPackage(FS + ".mount.jnr..")
        .should()
        .dependOnClassesThat(resideInAPackage("ru.serce.jnrfuse.."))
        .check(HOLDFAST);
  }

  @Test
  void s3Client_isKnownToItsAdapterOnly() {
    noClasses()
        .that()
        .resideOutsideOfPackage(FS + ".origin.s3")
        .should()
        .dependOnClassesThat(resideInAPackage("software.amazon.awssdk.."))
        .check(HOLDFAST);
  }

  /** Commands ask it at each start: to set up a log takes a third of the time of an umount. */
  @Test
  void supervisedMount_needsNeitherLogNorNativeCalls() {
    noClasses()
        .that()
        .haveFullyQualifiedName(FS + ".daemon.SupervisedMount")
        .should()
        .dependOnClassesThat(resideInAPackage("org.slf4j.."))
        .orShould()
        .dependOnClassesThat()
        .haveFullyQualifiedName(FS + ".linux.Libc")
        .check(HOLDFAST);
  }

  @Test
  void pins_areMadeByResidencyOnly() {
    noClasses()
        .that()
        .resideOutsideOfPackage(FS + ".residency")
        .and()
        // the daemon's own memory, of which nothing is in the mount
        .doNotHaveFullyQualifiedName(FS + ".linux.GrowingMemory")
        .and()
        // the memory of programs in the kernel, of which nothing is in the mount either
        .doNotHaveFullyQualifiedName(FS + ".bpf.OpenRing")
        .and()
        // maps for residency, by the names that are looked for here as well
        .doNotHaveFullyQualifiedName(FS + ".linux.NativeMemory")
        .should()
        .callMethodWhere(
            describe(
                "maps or locks memory",
                (JavaMethodCall call) ->
                    fullName("linux").equals(call.getTargetOwner().getPackageName())
                        && locksMemory(call.getTarget())))
        .check(HOLDFAST);
  }

  @Test
  void policies_areAskedByResidencyAndSimulationOnly() {
    noClasses()
        .that()
        .resideInAPackage(FS + "..")
        .and()
        .resideOutsideOfPackages(
            FS + ".residency",
            FS + ".daemon",
            FS + ".orders", // the spread of residents over them
            FS + ".plan", // what several nodes keep
            FS + ".settings", // their names
            FS + ".cli",
            FS + ".allocate", // the rates of a fetch
            FS + ".throughput", // and here
            FS + ".simulate")
        .should()
        .dependOnClassesThat(resideInAPackage("io.holdfast.policy.."))
        .check(HOLDFAST);
  }

  @Test
  void threads_areMadeInOnePlace() {
    noClasses()
        .that()
        .resideInAPackage(FS + "..")
        .and()
        .haveNameNotMatching(".*[.]linux[.]NamedThreads([$]NamedThread)?")
        .should()
        .callConstructorWhere(
            describe(
                "makes a thread",
                (JavaConstructorCall call) -> call.getTargetOwner().isEquivalentTo(Thread.class)))
        .check(HOLDFAST);
  }

  @Test
  void charts_areDrawnByReportsOnly() {
    noClasses()
        .that()
        .resideOutsideOfPackages(FS + ".plot", FS + ".simulate", FS + ".analyze", FS + ".workload")
        .should()
        .dependOnClassesThat(resideInAnyPackage("org.knowm.xchart..", "java.awt.."))
        .check(HOLDFAST);
  }

  /** The commands read a command line, and give values to the packages behind them. */
  @Test
  void picocli_isKnownToTheCommandsOnly() {
    noClasses()
        .that()
        .resideOutsideOfPackages(FS + ".cli", FS + ".manual")
        .should()
        .dependOnClassesThat(resideInAPackage("picocli.."))
        .check(HOLDFAST);
  }

  @Test
  void linearPrograms_areSolvedByTheBoundOnly() {
    noClasses()
        .that()
        .resideOutsideOfPackage(FS + ".workload")
        .should()
        .dependOnClassesThat(resideInAPackage("org.ojalgo.."))
        .check(HOLDFAST);
  }

  @Test
  void everyPackage_hasAnAnnotatedPackageInfo() {
    Set<String> annotated =
        HOLDFAST.stream()
            .filter(c -> c.getSimpleName().equals("package-info"))
            .filter(c -> c.isAnnotatedWith(NullMarked.class))
            .map(JavaClass::getPackageName)
            .collect(toSet());
    assertThat(annotated).isEqualTo(packagesUnder("io.holdfast"));
  }

  /** Tests on mounts run side by side, but for those that change something for all of them. */
  @Test
  void tests_thatChangeTheMachine_runAlone() {
    classes()
        .that(
            describe(
                "change the machine",
                c ->
                    c.getDirectDependenciesFromSelf().stream()
                        .anyMatch(d -> d.getTargetClass().getName().equals(MACHINE))))
        .and()
        .doNotHaveFullyQualifiedName(MACHINE)
        .should()
        .beAnnotatedWith(Isolated.class)
        .check(new ClassFileImporter().importPackages("io.holdfast.it"));
  }

  private static boolean locksMemory(MethodCallTarget target) {
    return Set.of("mmap", "munmap", "mlock", "mlock2", "munlock", "madvise", "map", "unmap")
        .contains(target.getName());
  }

  private static Set<String> packagesUnder(String root) {
    return HOLDFAST.stream()
        .map(JavaClass::getPackageName)
        .filter(name -> name.startsWith(root))
        .collect(toSet());
  }

  private static String packageOf(JavaClass c) {
    return (c.isArray() ? c.getBaseComponentType() : c).getPackageName();
  }

  private static String fullName(String name) {
    return name.isEmpty() ? FS : FS + "." + name;
  }

  private static Map.Entry<String, Set<String>> arrow(String from, String... to) {
    return Map.entry(from, Set.of(to));
  }
}
