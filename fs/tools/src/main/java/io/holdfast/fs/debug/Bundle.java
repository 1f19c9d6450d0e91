package io.holdfast.fs.debug;

import io.holdfast.fs.linux.NamedThreads;
import io.holdfast.fs.units.Visible;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/**
 * Reads sections side by side, each on a thread of its own, and packs them without secrets. If a
 * section does not come in time, or fails, its file says why. Thread-safe.
 */
public final class Bundle {
  /**
   * The most bytes of a file; a longer file loses its beginning, because the end of a log matters
   * most.
   */
  static final int LARGEST_FILE = 4 << 20;

  private final Duration deadline;
  private final Supplier<Redactor> redactors;

  /**
   * Creates a bundle, which collects nothing yet.
   *
   * @param deadline the time for all sections together
   * @param redactors returns the redactor, when all sections are there
   */
  public Bundle(Duration deadline, Supplier<Redactor> redactors) {
    this.deadline = deadline;
    this.redactors = redactors;
  }

  /**
   * Reads the sections and packs them.
   *
   * @param out takes a ZIP file; is not closed
   * @param folder the folder of all files in the archive
   * @param now the time of all files in the archive
   * @return a line for each file, for people: its name, and its size or why it is missing
   */
  public List<String> pack(OutputStream out, String folder, List<Section> sections, Instant now)
      throws IOException {
    long end = System.nanoTime() + deadline.toNanos();
    List<CompletableFuture<String>> running = new ArrayList<>();
    sections.forEach(section -> running.add(start(section)));
    List<String> texts = new ArrayList<>();
    List<String> files = new ArrayList<>();
    for (int i = 0; i < sections.size(); i++) {
      texts.add(await(running.get(i), sections.get(i).file(), end, files));
    }
    Redactor redactor = redactors.get();
    List<String> clean = files.stream().map(redactor::redact).map(Visible::of).toList();
    ZipOutputStream zip = new ZipOutputStream(out, StandardCharsets.UTF_8);
    for (int i = 0; i < sections.size(); i++) {
      put(zip, folder + "/" + sections.get(i).file(), redactor.redact(texts.get(i)), now);
    }
    put(zip, folder + "/FILES", String.join("\n", clean) + "\n", now);
    zip.finish();
    return clean;
  }

  private static void put(ZipOutputStream zip, String name, String text, Instant now)
      throws IOException {
    ZipEntry entry = new ZipEntry(name);
    entry.setTime(now.toEpochMilli());
    zip.putNextEntry(entry);
    zip.write(text.getBytes(StandardCharsets.UTF_8));
    zip.closeEntry();
  }

  private static CompletableFuture<String> start(Section section) {
    CompletableFuture<String> result = new CompletableFuture<>();
    NamedThreads.start(
        "section " + section.file(),
        () -> {
          try {
            result.complete(section.source().read());
          } catch (IOException | InterruptedException | RuntimeException e) {
            result.completeExceptionally(e);
          }
        });
    return result;
  }

  private String await(
      CompletableFuture<String> result, String file, long end, List<String> files) {
    String why;
    try {
      String text = bounded(result.get(Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS));
      files.add(file + "  " + text.length());
      return text;
    } catch (TimeoutException e) {
      why = "no answer in " + deadline.toSeconds() + " s";
    } catch (ExecutionException e) {
      why = String.valueOf(e.getCause().getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      why = "interrupted";
    }
    files.add(file + "  missing: " + why);
    return "missing: " + why + "\n";
  }

  private static String bounded(String text) {
    if (text.length() <= LARGEST_FILE) {
      return text;
    }
    String tail = text.substring(text.length() - LARGEST_FILE);
    return tail.substring(tail.indexOf('\n') + 1);
  }
}
