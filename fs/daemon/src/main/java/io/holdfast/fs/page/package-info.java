/**
 * The page of a mount, for a browser ({@code --page}): {@link io.holdfast.fs.page.PageSite} says
 * who may see it and serves its files, which are resources beside the classes. Gets what it shows
 * as bytes, and knows no figures.
 */
@NullMarked
package io.holdfast.fs.page;

import org.jspecify.annotations.NullMarked;
