package io.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Whatever cannot work gets one clear line and an exit code, and leaves nothing behind. */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class BadInputIT {
  @RegisterExtension static final Sandbox SANDBOX = new Sandbox();

  private static final int COULD_NOT = 1;
  private static final int USAGE = 2;

  /** In arguments these stand for paths of the sandbox. */
  private static final String SOURCE = "@source";

  private static final String MOUNTPOINT = "@mountpoint";
  private static final Set<String> PATHS =
      Set.of(SOURCE, MOUNTPOINT, "@missing", "@file", "@link", "@secret");

  @BeforeAll
  static void makePaths() throws IOException {
    Path source = SANDBOX.folder("source");
    Files.writeString(source.resolve("a.txt"), "a");
    SANDBOX.folder("mountpoint");
    Files.writeString(SANDBOX.root().resolve("file"), "not a folder");
    Files.createSymbolicLink(SANDBOX.root().resolve("link"), Path.of("/etc/init.d"));
    SANDBOX
        .command("mkdir", "-m", "700", SANDBOX.root().resolve("secret").toString())
        .mustSucceed();
  }

  /** One of each kind; the others are tried without a process, in BadInputTest. */
  static Stream<Arguments> usageErrors() {
    return Stream.of(
        bad("does not exist", "mount", "@missing", MOUNTPOINT),
        bad("'/etc', which the system needs", "mount", SOURCE, "@link"),
        bad("--capacity", "mount", "--capcity", "64M", SOURCE, MOUNTPOINT),
        bad("mount", "mout", SOURCE, MOUNTPOINT),
        bad("line 1", "simulate", "--trace", "@file"),
        bad("not JSON", "allocate", "--plan", "@file"));
  }

  private static Arguments bad(String mentioned, String... arguments) {
    return Arguments.of(List.of(arguments), mentioned);
  }

  @Tag(Sandbox.ANY_BINDING)
  @ParameterizedTest(name = "{0}")
  @MethodSource("usageErrors")
  void badArguments_ofAnyCommand_areUsageErrors(List<String> arguments, String mentioned) {
    Leftovers before = Leftovers.of(SANDBOX);

    Child.Result result = SANDBOX.holdfast(resolve(arguments).toArray(String[]::new));

    assertThat(result.exit()).as("%s", result).isEqualTo(USAGE);
    assertOneLine(result, mentioned);
    before.assertNothingMore();
  }

  @Tag(Sandbox.ANY_BINDING)
  @Test
  void requests_toMountsThatAreNot_failInOneLine() {
    for (String command : List.of("umount", "stats")) {
      Child.Result result = SANDBOX.holdfast(command, "no-such-name");

      assertThat(result.exit()).as("%s", result).isEqualTo(COULD_NOT);
      assertOneLine(result, "no-such-name");
    }
  }

  @Test
  @Tag(Sandbox.ANY_BINDING)
  void source_unreadable_isAUsageError() {
    Leftovers before = Leftovers.of(SANDBOX);
    Path home = copyOfHome();

    Child.Result result =
        SANDBOX.command(
            "setpriv",
            "--reuid=65534",
            "--regid=65534",
            "--clear-groups",
            home.resolve("bin/holdfast").toString(),
            "mount",
            SANDBOX.root().resolve("secret").toString(),
            SANDBOX.root().resolve("mountpoint").toString());

    assertThat(result.exit()).as("%s", result).isEqualTo(USAGE);
    assertOneLine(result, "secret");
    before.assertNothingMore();
  }

  @Test
  @Tag(Sandbox.ANY_BINDING)
  void mountpointOrName_ofAHoldfastMount_isRefusedAndTheMountUntouched() {
    Path source = SANDBOX.root().resolve("source");
    Mount mount = SANDBOX.mount(source, "--capacity", "64M");
    Leftovers before = Leftovers.of(SANDBOX);

    Child.Result again =
        SANDBOX.holdfast(
            "mount",
            "--name",
            SANDBOX.id() + "-again",
            source.toString(),
            mount.mountpoint().toString());

    assertThat(again.exit()).as("%s", again).isEqualTo(COULD_NOT);
    assertOneLine(again, "already");
    before.assertNothingMore();
    assertThat(MountTable.holdfastAt(mount.mountpoint())).hasSize(1);
    assertThat(mount.path("a.txt")).hasContent("a");
    assertNameInUseIsRefused(mount);
    mount.terminate();
  }

  private static void assertNameInUseIsRefused(Mount mount) {
    Child.Result again =
        SANDBOX.holdfast(
            "mount", "--name", mount.name(), mount.source(), SANDBOX.folder("second").toString());

    assertThat(again.exit()).as("%s", again).isEqualTo(COULD_NOT);
    assertOneLine(again, mount.name());
    assertThat(mount.stats().at("name")).isEqualTo(mount.name());
  }

  @Test
  @Tag(Sandbox.ANY_BINDING)
  void monitoring_thatCannotBe_isToldBeforeAnythingIsMounted() throws IOException {
    Leftovers before = Leftovers.of(SANDBOX);
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      String port = Integer.toString(taken.getLocalPort());
      for (List<String> options :
          List.of(
              List.of("--metrics", port),
              List.of("--metrics", "no-such-host.invalid:9464"),
              List.of("--access-log", "/proc/self/access.log"))) {
        List<String> words = new ArrayList<>(List.of("mount", "--name", SANDBOX.id() + "-bad"));
        words.addAll(options);
        words.addAll(resolve(List.of(SOURCE, MOUNTPOINT)));

        Child.Result result = SANDBOX.holdfast(words.toArray(String[]::new));

        assertThat(result.exit()).as("%s", result).isEqualTo(COULD_NOT);
        assertOneLine(result, options.get(1));
        assertThat(result.err()).contains("choose another").contains(options.get(0));
      }
    }
    before.assertNothingMore();
  }

  @Test
  void deviceOfFuse_missing_isToldInOneLine() {
    Child.Result result =
        inOwnMounts(
            System.getProperty("holdfast.binding"),
            "mkdir \"$R/dev\" && mount -t tmpfs none \"$R/dev\" && cd \"$R/dev\""
                + " && for d in null zero full random urandom tty; do : > $d"
                + " && mount --bind /dev/$d $d; done && mount --rbind \"$R/dev\" /dev");

    assertThat(result.exit()).as("%s", result).isEqualTo(COULD_NOT);
    assertOneLine(result, "/dev/fuse");
  }

  /** If mounts propagate, a mount there appears in the place of the system itself. */
  @Test
  @Tag(Sandbox.ANY_BINDING)
  void mountpoint_bindMountOfAPlaceOfTheSystem_isAUsageError() {
    for (String place : List.of("/usr", "/etc", "/proc")) {
      Child.Result result =
          inOwnMounts("kernel", "mount --bind " + place + " \"$R/../mountpoint\"");

      assertThat(result.exit()).as("%s", result).isEqualTo(USAGE);
      assertOneLine(result, place.substring(1));
    }
  }

  /** The library's folder is laid over with one in which it has been deleted. */
  @Test
  @Tag(Sandbox.ANY_BINDING)
  void libfuse_missing_isToldWithThePackagesName() {
    Child.Result result =
        inOwnMounts(
            "jnr-fuse",
            "lib=$(/sbin/ldconfig -p | sed -n 's/.*libfuse[.]so[.]2 .*=> //p' | head -n 1)"
                + " && lib=$(dirname \"$(readlink -f \"$lib\")\") && mkdir -p \"$R/lib\""
                + " && mount -t tmpfs none \"$R/lib\" && mkdir \"$R/lib/up\" \"$R/lib/work\""
                + " && mount -t overlay overlay"
                + " -o \"lowerdir=$lib,upperdir=$R/lib/up,workdir=$R/lib/work\" \"$lib\""
                + " && rm \"$lib\"/libfuse.so.2*");

    assertThat(result.exit()).as("%s", result).isEqualTo(COULD_NOT);
    assertOneLine(result, "libfuse2");
  }

  @Test
  @Tag(Sandbox.ANY_BINDING)
  void mounting_notPermitted_isToldInOneLine() {
    Leftovers before = Leftovers.of(SANDBOX);

    Child.Result result =
        SANDBOX.command(
            "setpriv",
            "--bounding-set=-sys_admin",
            "--inh-caps=-sys_admin",
            Sandbox.launcher(),
            "mount",
            "--name",
            SANDBOX.id() + "-forbidden",
            SANDBOX.root().resolve("source").toString(),
            SANDBOX.root().resolve("mountpoint").toString());

    assertThat(result.exit()).as("%s", result).isEqualTo(COULD_NOT);
    assertOneLine(result, "not permitted");
    before.assertNothingMore();
  }

  @Test
  @Tag(Sandbox.ANY_BINDING)
  void java_missing_isToldInOneLine() {
    Child.Result result =
        SANDBOX.run(
            Map.of("JAVA_HOME", "/nonexistent", "PATH", "/nonexistent"),
            List.of(
                "/usr/bin/unshare",
                "-m",
                "/bin/sh",
                "-c",
                "{ [ ! -d /usr/lib/jvm ] || /bin/mount -t tmpfs none /usr/lib/jvm; } && exec "
                    + Sandbox.launcher()
                    + " version"));

    assertThat(result.exit()).as("%s", result).isEqualTo(COULD_NOT);
    assertOneLine(result, "Java");
  }

  @Test
  @Tag(Sandbox.ANY_BINDING)
  void help_ofACommand_isPrintedWithSuccess() {
    Child.Result result = SANDBOX.holdfast("mount", "--help");

    assertThat(result.mustSucceed().out()).contains("holdfast mount");
    assertThat(result.err()).isEmpty();
  }

  @Test
  @Tag(Sandbox.ANY_BINDING)
  void launcher_throughASymlinkInAnotherLocale_works() {
    Path link = SANDBOX.root().resolve("holdfast-link");
    SANDBOX.command("ln", "-s", Sandbox.launcher(), link.toString()).mustSucceed();

    Child.Result result =
        SANDBOX.run(Map.of("LANG", "C", "LC_ALL", "C"), List.of(link.toString(), "version"));

    assertThat(result.mustSucceed().out()).matches("(?s).*\\d+\\.\\d+.*");
  }

  /** Runs a mount in a mount namespace of its own, which some commands have changed. */
  private Child.Result inOwnMounts(String binding, String preparation) {
    Leftovers before = Leftovers.of(SANDBOX);
    Child.Result result =
        SANDBOX.run(
            Map.of("R", SANDBOX.folder("own").toString()),
            List.of(
                "unshare",
                "--mount",
                "--propagation",
                "private",
                "sh",
                "-c",
                "{ "
                    + preparation
                    + "; } > \"$R/log\" 2>&1 || { cat \"$R/log\"; exit 77; }; exec \"$@\"",
                "sh",
                Sandbox.launcher(),
                "mount",
                "--name",
                SANDBOX.id() + "-own",
                "--binding",
                binding,
                SANDBOX.root().resolve("source").toString(),
                SANDBOX.root().resolve("mountpoint").toString()));
    assertThat(result.exit()).as("preparation: %s", result).isNotEqualTo(77);
    before.assertNothingMore();
    return result;
  }

  private static void assertOneLine(Child.Result result, String mentioned) {
    Leftovers.assertOneLine(result, resolve(mentioned));
  }

  private static List<String> resolve(List<String> arguments) {
    return arguments.stream().map(BadInputIT::resolve).toList();
  }

  private static String resolve(String argument) {
    return PATHS.contains(argument)
        ? SANDBOX.root().resolve(argument.substring(1)).toString()
        : argument;
  }

  /** A distribution that everybody may read, wherever the build is. */
  private static Path copyOfHome() {
    Path copy = SANDBOX.root().resolve("home");
    SANDBOX.command("cp", "-r", Sandbox.HOME.toString(), copy.toString()).mustSucceed();
    SANDBOX.command("chmod", "-R", "a+rX", copy.toString()).mustSucceed();
    return copy;
  }
}
