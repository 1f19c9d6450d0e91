package io.holdfast.fs.daemon;

import io.holdfast.fs.FsException;
import io.holdfast.fs.plan.PlanParts;
import io.holdfast.fs.residency.Residency;
import io.holdfast.fs.transit.Content;
import io.holdfast.fs.transit.Item;
import io.holdfast.fs.transit.ItemLayout;
import io.holdfast.fs.tree.Node;
import io.holdfast.fs.tree.Tree;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The files of the dataset, as a plan of several nodes needs them. Thread-safe.
 *
 * @param tree returns the tree, once there is one
 */
record PlannedFiles(Supplier<Tree> tree, ItemLayout layout, Residency residency)
    implements PlanParts.Items {
  @Override
  public long count(long id) {
    Content content = content(id);
    return content == null ? 0 : layout.count(content.version().size());
  }

  @Override
  public @Nullable Item item(long id) {
    Content content = content(id);
    if (content == null || layout.count(content.version().size()) != 1) {
      return null;
    }
    Item item = layout.item(content, 0);
    return residency.isLeftToPolicy(item) ? item : null;
  }

  private @Nullable Content content(long id) {
    try {
      Node file = tree.get().node(id);
      return new Content(file.id(), file::path, file.version());
    } catch (FsException e) {
      return null; // another version has taken its name
    }
  }
}
