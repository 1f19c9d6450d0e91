package io.holdfast.fs.checkpoint;

import java.util.List;

/** A directory as the store, for a test that changes some of its answers. */
abstract class ForwardingStore implements InPlaceStore {
  private DirectoryStore store;

  ForwardingStore(DirectoryStore store) {
    this.store = store;
  }

  /** Returns the store that answers. */
  final DirectoryStore store() {
    return store;
  }

  /** Has another one answer. */
  final void forwardTo(DirectoryStore another) {
    store = another;
  }

  @Override
  public NameLimits nameLimits() {
    return store.nameLimits();
  }

  @Override
  public int longestTarget() {
    return store.longestTarget();
  }

  @Override
  public int mostLinks() {
    return store.mostLinks();
  }

  @Override
  public long largestFile() {
    return store.largestFile();
  }

  @Override
  public boolean keepsOwners() {
    return store.keepsOwners();
  }

  @Override
  public boolean exchanges() {
    return store.exchanges();
  }

  @Override
  public boolean readsInPlace() {
    return store.readsInPlace();
  }

  @Override
  public int openToRead(String path, Stat expected) throws ErrnoException {
    return store.openToRead(path, expected);
  }

  @Override
  public Stat stat(String path) throws ErrnoException {
    return store.stat(path);
  }

  @Override
  public List<FileTree.Entry> list(String path) throws ErrnoException {
    return store.list(path);
  }

  @Override
  public String readLink(String path) throws ErrnoException {
    return store.readLink(path);
  }

  @Override
  public List<String> xattrNames(String path) throws ErrnoException {
    return store.xattrNames(path);
  }

  @Override
  public byte[] xattr(String path, String name) throws ErrnoException {
    return store.xattr(path, name);
  }

  @Override
  public String lastMount() {
    return store.lastMount();
  }

  @Override
  public void noteMount() throws ErrnoException {
    store.noteMount();
  }

  @Override
  public void checkOwner() throws ErrnoException {
    store.checkOwner();
  }

  @Override
  public void write(String path, long address, int length, long offset) throws ErrnoException {
    store.write(path, address, length, offset);
  }

  @Override
  public void sync(long modified) throws ErrnoException {
    store.sync(modified);
  }

  @Override
  public void apply(Operation operation) throws ErrnoException {
    store.apply(operation);
  }

  @Override
  public long witness(Operation operation) throws ErrnoException {
    return store.witness(operation);
  }

  @Override
  public boolean isApplied(Operation operation, long witness) throws ErrnoException {
    return store.isApplied(operation, witness);
  }

  @Override
  public void release(boolean nothingPending) {
    store.release(nothingPending);
  }

  @Override
  public void close() {
    store.close();
  }
}
