package io.holdfast.fs.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.host.FakeHost;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The scripts in the shells that they are for. */
class CompletionTest {
  /** Asks as if somebody pressed the key: the line up to the cursor, in words. */
  private static final String BASH =
      """
      source "$1"
      COMP_WORDS=("${@:2}")
      COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
      _holdfast 2>/dev/null
      printf '%s\\n' "${COMPREPLY[@]}"
      """;

  /** Presses the key at a terminal of its own, and then a key that prints the line. */
  private static final String ZSH =
      """
      zmodload zsh/zpty
      zpty z 'TERM=dumb zsh -f -i'
      zpty -w z "PS1=; autoload -U compinit; compinit -u -D; source $1"
      zpty -w z 'show() { print -r -- "<$BUFFER>"; BUFFER= }; zle -N show; bindkey "^Xs" show'
      zpty -w z 'unsetopt zle_bracketed_paste 2>/dev/null; print rea""dy'
      zpty -r -m z line '*ready*'
      zpty -n -w z "$2"$'\\t\\x18s'
      zpty -r -m z line '*<*>*'
      print -r -- "${${line#*<}%%>*}"
      zpty -d z
      """;

  private static final String FISH = "source $argv[1]; complete -C $argv[2]";

  @TempDir Path folder;
  private Path script;

  @BeforeEach
  void prepare() {
    script = folder.resolve("script");
  }

  private List<String> ask(List<String> shell, String... words) throws Exception {
    CliRun run = new CliRun(new FakeHost(folder));
    assertThat(run.run("completion", shell.get(0))).isZero();
    Files.writeString(script, run.out.toString().replace("/etc/holdfast", folder + "/etc"));
    List<String> command = new ArrayList<>(shell);
    command.add(script.toString());
    command.addAll(Arrays.asList(words));
    ProcessBuilder builder = new ProcessBuilder(command).directory(folder.toFile());
    builder.environment().put("XDG_RUNTIME_DIR", folder.toString());
    builder.environment().put("HOME", folder.toString());
    Process process = builder.redirectErrorStream(true).start();
    process.getOutputStream().close();
    try {
      String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
      return out.lines().toList();
    } finally {
      process.destroyForcibly();
    }
  }

  private List<String> bash(String... words) throws Exception {
    return ask(List.of("bash", "--norc", "-c", BASH, "bash"), words);
  }

  @Test
  void bash_completesCommandsOptionsAndValues() throws Exception {
    assertThat(bash("holdfast", "um")).containsExactly("umount");
    assertThat(bash("holdfast", "mount", "--capa")).containsExactly("--capacity");
    assertThat(bash("holdfast", "mount", "--pin", "h")).containsExactly("hard");
    assertThat(bash("holdfast", "mount", "--pin", "=", "s")).containsExactly("soft");
    assertThat(bash("holdfast", "mount", "--pin", "=")).containsExactly("hard", "soft", "auto");
    assertThat(bash("holdfast", "completion", "z")).containsExactly("zsh");
  }

  @Test
  void bash_completesPathsAndRunningMounts() throws Exception {
    Files.createDirectory(folder.resolve("some data"));
    assertThat(bash("holdfast", "mount", "so")).containsExactly("some data");
    assertThat(bash("holdfast", "mount", "--log-file", "scr")).containsExactly("script");
    Files.createDirectory(folder.resolve("holdfast"));
    try (ServerSocketChannel socket = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      socket.bind(UnixDomainSocketAddress.of(folder.resolve("holdfast/photos.sock")));
      assertThat(bash("holdfast", "umount", "pho")).containsExactly("photos");
    }
  }

  /**
   * Otherwise a user who may make a file among the sockets could run commands as the user who
   * presses the key.
   */
  @Test
  void socketNamedLikeACommand_whenCompleted_runsNothing() throws Exception {
    Path sockets = Files.createDirectory(folder.resolve("holdfast"));
    for (String name : List.of("$(touch pwned).sock", "`touch pwned`.sock", "photos.sock")) {
      try (ServerSocketChannel socket = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
        socket.bind(UnixDomainSocketAddress.of(sockets.resolve(name)));
      }
    }
    assertThat(bash("holdfast", "umount", "")).contains("photos").doesNotContain("$(touch");
    assertThat(ask(List.of("zsh", "-f", "-c", ZSH, "zsh"), "holdfast umount pho"))
        .containsExactly("holdfast umount photos ");
    assertThat(ask(List.of("fish", "--no-config", "-c", FISH), "holdfast umount "))
        .anyMatch(line -> line.startsWith("photos"))
        .noneMatch(line -> line.contains("touch"));
    assertThat(folder.resolve("pwned")).doesNotExist();
  }

  @Test
  void zsh_completesValues() throws Exception {
    assertThat(ask(List.of("zsh", "-f", "-c", ZSH, "zsh"), "holdfast mount --pin ha"))
        .containsExactly("holdfast mount --pin hard ");
  }

  @Test
  void fish_completesWithMeanings() throws Exception {
    List<String> shell = List.of("fish", "--no-config", "-c", FISH);
    assertThat(ask(shell, "holdfast um"))
        .containsExactly("umount\tEnd a mount and give its memory back");
    assertThat(ask(shell, "holdfast mount --pin h"))
        .hasSize(1)
        .first()
        .asString()
        .startsWith("hard");
  }

  /** As an administrator types: names of existing files, even if no mount runs yet. */
  @Test
  void allShells_completeNamesOfFilesWithOptionsAndValuesBehindEquals() throws Exception {
    Path options = Files.createDirectory(folder.resolve("etc"));
    Files.createFile(options.resolve("photos.yaml"));
    Files.createFile(options.resolve("$(touch pwned).yaml"));
    Files.createFile(folder.resolve("new.yaml"));

    assertThat(bash("holdfast", "mount", "--name", "")).containsExactly("photos");
    assertThat(bash("holdfast", "mount", "--name", "=", "pho")).containsExactly("photos");
    assertThat(bash("holdfast", "mount", "--policy", "="))
        .containsExactly("minio", "minio-hash", "none");
    assertThat(bash("holdfast", "mount", "--policy=n")).containsExactly("--policy=none");
    assertThat(bash("holdfast", "config", "--check", "")).contains("photos", "new.yaml");
    assertThat(bash("holdfast", "config", "--check", "ne")).containsExactly("new.yaml");

    assertThat(zsh("holdfast mount --name pho")).isEqualTo("holdfast mount --name photos ");
    assertThat(zsh("holdfast mount --name=pho")).isEqualTo("holdfast mount --name=photos ");
    assertThat(zsh("holdfast mount --policy=no")).isEqualTo("holdfast mount --policy=none ");
    assertThat(zsh("holdfast config --check pho")).isEqualTo("holdfast config --check photos ");
    assertThat(zsh("holdfast config --check ne")).isEqualTo("holdfast config --check new.yaml ");

    assertThat(fish("holdfast mount --name ")).containsExactly("photos");
    assertThat(fish("holdfast mount --name=pho")).containsExactly("--name=photos");
    assertThat(fish("holdfast mount --policy=no")).containsExactly("--policy=none");
    assertThat(fish("holdfast config --check ")).contains("photos", "new.yaml");
    assertThat(folder.resolve("pwned")).doesNotExist();
  }

  private String zsh(String line) throws Exception {
    return String.join("\n", ask(List.of("zsh", "-f", "-c", ZSH, "zsh"), line));
  }

  /** Without what each word means. */
  private List<String> fish(String line) throws Exception {
    return ask(List.of("fish", "--no-config", "-c", FISH), line).stream()
        .map(word -> word.split("\t", 2)[0])
        .toList();
  }

  @Test
  void shell_thatIsNotKnown_isRefused() throws IOException {
    CliRun run = new CliRun(new FakeHost(folder));
    assertThat(run.run("completion", "tcsh")).isEqualTo(2);
    assertThat(run.err.toString()).contains("choose one of bash, zsh, fish");
  }
}
