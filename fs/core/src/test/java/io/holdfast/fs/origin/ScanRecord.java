package io.holdfast.fs.origin;

import io.holdfast.fs.FsException;
import io.holdfast.fs.origin.Origin.ScanSink;
import io.holdfast.fs.origin.Origin.ScannedEntry;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;

/** Takes a scan, and notes errors in its order. */
public final class ScanRecord implements ScanSink {
  public final Map<String, Attributes> entries = new ConcurrentHashMap<>();
  public final Set<String> complete = ConcurrentHashMap.newKeySet();
  public final Map<String, FsException> failed = new ConcurrentHashMap<>();
  public final Queue<String> hidden = new ConcurrentLinkedQueue<>();
  public final List<String> wrong = new CopyOnWriteArrayList<>();

  /** Begins with the root. */
  public ScanRecord() {
    entries.put(".", new Attributes(Attributes.DIRECTORY, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, ""));
  }

  @Override
  public void entries(OriginPath directory, List<ScannedEntry> list) {
    if (!entries.containsKey(directory.toString())) {
      wrong.add(directory + " has entries before it is one");
    }
    if (complete.contains(directory.toString())) {
      wrong.add(directory + " has entries after it was complete");
    }
    for (ScannedEntry entry : list) {
      String path = directory.child(entry.name().bytes()).toString();
      if (entries.put(path, entry.attributes()) != null) {
        wrong.add(path + " is passed twice");
      }
    }
  }

  @Override
  public void unread(OriginPath directory, OriginPath name, FsException cause) {
    wrong.add(cause.getMessage());
  }

  @Override
  public void complete(OriginPath directory) {
    if (!complete.add(directory.toString())) {
      wrong.add(directory + " is complete twice");
    }
  }

  @Override
  public void failed(OriginPath directory, FsException cause) {
    failed.put(directory.toString(), cause);
  }

  @Override
  public void hidden(String key) {
    hidden.add(key);
  }

  @Override
  public boolean goesOn() {
    return true;
  }

  /** Returns how many files there are. */
  public long files() {
    return entries.values().stream().filter(Attributes::isRegular).count();
  }
}
