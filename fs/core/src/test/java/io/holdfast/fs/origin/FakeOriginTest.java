package io.holdfast.fs.origin;

/** The fake that other tests rely on does what every origin does. */
final class FakeOriginTest extends DirectoryContractTest {
  private FakeOrigin fake;

  @Override
  DirectoryStore createStore() {
    fake = new FakeOrigin();
    return fake;
  }

  @Override
  Origin openOrigin() {
    return fake;
  }
}
