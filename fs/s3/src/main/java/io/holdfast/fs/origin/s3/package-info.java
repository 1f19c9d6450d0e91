/**
 * The origin as a prefix of an S3 bucket, or of any store that speaks its protocol. {@link
 * io.holdfast.fs.origin.s3.S3Origin} is the adapter; {@link io.holdfast.fs.origin.s3.KeyNames} says
 * how keys become a tree.
 */
@NullMarked
package io.holdfast.fs.origin.s3;

import org.jspecify.annotations.NullMarked;
