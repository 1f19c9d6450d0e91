/**
 * Pictures for people: charts as SVG or PNG, and the files that they go to. {@link
 * io.holdfast.fs.plot.Picture} is the entry. What a chart shows is its owner's; this package knows
 * colours, formats and files.
 */
@NullMarked
package io.holdfast.fs.plot;

import org.jspecify.annotations.NullMarked;
