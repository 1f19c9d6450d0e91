package io.holdfast.fs;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.linux.Memory;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;

/** A reply that keeps its answer, and insists on getting one only. Thread-safe. */
public final class RecordingReply implements ReadReply {
  private final CompletableFuture<byte[]> answer = new CompletableFuture<>();
  private volatile ReadSource source = ReadSource.MEMORY;
  private final AtomicInteger answers = new AtomicInteger();

  @Override
  public void data(CheckedBytes bytes) {
    answers.incrementAndGet();
    answer.complete(Memory.bytes(bytes.address(), bytes.length()));
  }

  @Override
  public void waitedFor(ReadSource from) {
    source = from;
  }

  @Override
  public void failed(FsException cause) {
    answers.incrementAndGet();
    answer.completeExceptionally(cause);
  }

  /** Tells whether there is an answer, without waiting for one. */
  public boolean isAnswered() {
    return answer.isDone();
  }

  /** Returns where the bytes came from. */
  public ReadSource source() {
    return source;
  }

  /** Returns how many answers there were. */
  public int answers() {
    return answers.get();
  }

  /** Waits for the answer, and returns its bytes. */
  public byte[] bytes() {
    try {
      byte[] bytes = answer.get(Await.LONGEST.toSeconds(), TimeUnit.SECONDS);
      assertThat(answers).hasValue(1);
      return bytes;
    } catch (ExecutionException | InterruptedException | TimeoutException e) {
      throw new AssertionError("no bytes", e);
    }
  }

  /** Waits for the answer, and returns the failure that it is. */
  public FsException failure() {
    try {
      byte[] bytes = answer.get(Await.LONGEST.toSeconds(), TimeUnit.SECONDS);
      throw new AssertionError("no failure, but " + bytes.length + " bytes");
    } catch (ExecutionException e) {
      assertThat(answers).hasValue(1);
      return (FsException) e.getCause();
    } catch (InterruptedException | TimeoutException e) {
      throw new AssertionError("no failure", e);
    }
  }

  /** Waits for the answer; returns the failure's code, or null where it is bytes. */
  public @org.jspecify.annotations.Nullable FsError code() {
    try {
      answer.get(Await.LONGEST.toSeconds(), TimeUnit.SECONDS);
      return null;
    } catch (ExecutionException e) {
      return ((FsException) e.getCause()).code();
    } catch (InterruptedException | TimeoutException e) {
      throw new AssertionError("no answer", e);
    }
  }
}
