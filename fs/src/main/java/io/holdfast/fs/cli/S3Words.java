package io.holdfast.fs.cli;

import io.holdfast.fs.daemon.S3Options;
import io.holdfast.fs.daemon.Settings;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/**
 * The options of mount that concern a source in S3, as the user wrote them. An option that was not
 * given is null here. Credentials are none of them: they come from the environment and the files
 * that AWS tools read. Not thread-safe.
 */
final class S3Words {
  @Option(
      names = "--s3-endpoint",
      paramLabel = "URL",
      description =
          "Where a store other than AWS is: http://HOST:PORT. Default: AWS, or what the environment"
              + " says.")
  private @Nullable String endpoint;

  @Option(
      names = "--s3-region",
      paramLabel = "REGION",
      description =
          "The bucket's region, as AWS calls it. Default: from the environment or ~/.aws/config.")
  private @Nullable String region;

  @Option(
      names = "--s3-path-style",
      negatable = true,
      description =
          "Send the bucket's name in the path of requests, not in the host's name; many stores"
              + " other than AWS want that.")
  private @Nullable Boolean pathStyle;

  @Option(
      names = "--s3-anonymous",
      negatable = true,
      description = "Send requests without credentials, for a public bucket.")
  private @Nullable Boolean anonymous;

  @Option(
      names = "--s3-requester-pays",
      negatable = true,
      description = "Accept that reading is charged to you and not to the bucket's owner.")
  private @Nullable Boolean requesterPays;

  @Option(
      names = "--uid",
      paramLabel = "NUMBER",
      description = "Owner of all files. Default: the user who mounts.")
  private @Nullable String uid;

  @Option(
      names = "--gid",
      paramLabel = "NUMBER",
      description = "Group of all files. Default: that of the user who mounts.")
  private @Nullable String gid;

  @Option(
      names = "--file-mode",
      paramLabel = "OCTAL",
      description = "Permissions of files. Default: 0644.")
  private @Nullable String fileMode;

  @Option(
      names = "--dir-mode",
      paramLabel = "OCTAL",
      description = "Permissions of directories. Default: 0755.")
  private @Nullable String directoryMode;

  /** Says what they mean. */
  void fill(MountOptions.Filling f) {
    S3Options s3 = f.builder().s3();
    f.set(Settings.Key.S3_ENDPOINT, endpoint, s3::endpoint);
    f.set(Settings.Key.S3_REGION, region, s3::region);
    f.set(Settings.Key.S3_PATH_STYLE, pathStyle, s3::pathStyle);
    f.set(Settings.Key.S3_ANONYMOUS, anonymous, s3::anonymous);
    f.set(Settings.Key.S3_REQUESTER_PAYS, requesterPays, s3::requesterPays);
    f.set(Settings.Key.UID, uid, s3::uid);
    f.set(Settings.Key.GID, gid, s3::gid);
    f.set(Settings.Key.FILE_MODE, fileMode, s3::fileMode);
    f.set(Settings.Key.DIR_MODE, directoryMode, s3::directoryMode);
  }
}
