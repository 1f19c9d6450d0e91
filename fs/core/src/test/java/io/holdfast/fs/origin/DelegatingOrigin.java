package io.holdfast.fs.origin;

import io.holdfast.fs.FsException;
import java.util.List;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/** Passes every call on; tests override the calls that shall fail. */
public class DelegatingOrigin implements Origin {
  private final Origin origin;

  public DelegatingOrigin(Origin origin) {
    this.origin = origin;
  }

  @Override
  public String describe() {
    return origin.describe();
  }

  @Override
  public String identity() throws FsException {
    return origin.identity();
  }

  @Override
  public boolean mayHang() {
    return origin.mayHang();
  }

  @Override
  public void probe() throws FsException {
    origin.probe();
  }

  @Override
  public OriginHealth health() {
    return origin.health();
  }

  @Override
  public void watch() {
    origin.watch();
  }

  @Override
  public Attributes stat(OriginPath path) throws FsException {
    return origin.stat(path);
  }

  @Override
  public void sync(OriginPath path) throws FsException {
    origin.sync(path);
  }

  @Override
  public Found find(
      OriginPath directory, byte[] name, List<Attributes> way, @Nullable Attributes known)
      throws FsException {
    return origin.find(directory, name, way, known);
  }

  @Override
  public FoundEntries findAll(OriginPath directory, List<KnownEntry> entries, List<Attributes> way)
      throws FsException {
    return origin.findAll(directory, entries, way);
  }

  @Override
  public byte[] readLink(OriginPath path, Attributes known) throws FsException {
    return origin.readLink(path, known);
  }

  @Override
  public void list(OriginPath path, EntrySink sink) throws FsException {
    origin.list(path, sink);
  }

  @Override
  public boolean hasDirectories() {
    return origin.hasDirectories();
  }

  @Override
  public void scan(OriginPath directory, Executor threads, ScanSink sink) throws FsException {
    origin.scan(directory, threads, sink);
  }

  @Override
  public long quietNanos(Version version) {
    return origin.quietNanos(version);
  }

  @Override
  public OriginFile open(OriginPath path, Part part) throws FsException {
    return origin.open(path, part);
  }

  @Override
  public byte[] extendedAttribute(OriginPath path, Attributes known, byte[] name)
      throws FsException {
    return origin.extendedAttribute(path, known, name);
  }

  @Override
  public byte[] extendedAttributeNames(OriginPath path, Attributes known) throws FsException {
    return origin.extendedAttributeNames(path, known);
  }

  @Override
  public StoreFigures figures() throws FsException {
    return origin.figures();
  }

  @Override
  public void close() {
    origin.close();
  }
}
