/**
 * The dataset's metadata: which node a name leads to, and what stat says of it. Entry type: {@link
 * io.holdfast.fs.tree.Tree}.
 */
@NullMarked
package io.holdfast.fs.tree;

import org.jspecify.annotations.NullMarked;
