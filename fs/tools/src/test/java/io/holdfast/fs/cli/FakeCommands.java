package io.holdfast.fs.cli;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.control.ControlCommands;
import java.io.IOException;
import java.util.List;
import java.util.Map;

/** The commands of a daemon that knows nothing and does nothing; tests override what they ask. */
class FakeCommands implements ControlCommands {
  private static FsException unexpected() {
    return new FsException(FsError.UNSUPPORTED, "the test did not expect this question");
  }

  @Override
  public Map<String, Object> stats() {
    return Map.of();
  }

  @Override
  public List<Map<String, Object>> peers() {
    return List.of();
  }

  @Override
  public List<Map<String, Object>> config() {
    return List.of();
  }

  @Override
  public long refresh(String path) throws IOException {
    throw unexpected();
  }

  @Override
  public Map<String, Object> task(Map<String, Object> request) throws IOException {
    throw unexpected();
  }

  @Override
  public Map<String, Object> order(Map<String, Object> request) throws IOException {
    throw unexpected();
  }

  @Override
  public Map<String, Object> allocation(Map<String, Object> request) throws IOException {
    throw unexpected();
  }

  @Override
  public Runnable restart() throws FsException {
    throw unexpected();
  }

  @Override
  public void stop() {}
}
