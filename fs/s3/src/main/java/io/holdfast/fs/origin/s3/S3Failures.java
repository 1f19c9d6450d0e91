package io.holdfast.fs.origin.s3;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import java.io.EOFException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.security.cert.CertPathBuilderException;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hc.core5.http.ConnectionClosedException;
import org.apache.hc.core5.http.NoHttpResponseException;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.awscore.exception.AwsServiceException;
import software.amazon.awssdk.core.exception.ApiCallAttemptTimeoutException;
import software.amazon.awssdk.core.exception.ApiCallTimeoutException;

/** Translates failures of the store into the domain's errors. Stateless. */
final class S3Failures {
  private static final Pattern REGION = Pattern.compile("[a-z0-9-]{1,63}");
  private static final Pattern EXPECTED_REGION = Pattern.compile("expecting '(" + REGION + ")'");

  /** The store's words for a request that it does not believe, whatever the request is about. */
  private static final Set<String> NO_ANSWERS =
      Set.of(
          "ExpiredToken",
          "InvalidAccessKeyId",
          "InvalidToken",
          "RequestTimeTooSkewed",
          "SignatureDoesNotMatch");

  /**
   * An answer that does not fit its request. It can pass through the client, which tries no request
   * again because of it.
   */
  static final class WrongAnswer extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final FsError code;

    WrongAnswer(FsError code, String text) {
      super(text);
      this.code = code;
    }
  }

  private S3Failures() {}

  /**
   * Returns the failure of a request.
   *
   * @param what the entry of the request
   */
  static FsException of(String what, RuntimeException e) {
    WrongAnswer wrong = causeIn(e, WrongAnswer.class);
    if (wrong != null) {
      return new FsException(wrong.code, what + ": " + wrong.getMessage(), e);
    }
    // it is a cause where it answers the request for bytes that another request was to send
    AwsServiceException service = causeIn(e, AwsServiceException.class);
    if (service != null) {
      return new FsException(errorOf(service), what + ": the store says " + said(service), e);
    }
    if (isAway(causeOf(e))) {
      String text = what + ": the store is not there: " + oneLine(causeOf(e));
      return new FsException(FsError.TIMED_OUT, text, e);
    }
    return isLate(e)
        ? new FsException(FsError.TIMED_OUT, what + ": the store did not answer in time", e)
        : new FsException(FsError.IO, what + ": " + oneLine(causeOf(e)), e);
  }

  private static FsError errorOf(AwsServiceException answer) {
    if (NO_ANSWERS.contains(codeOf(answer))) {
      return FsError.UNAVAILABLE;
    }
    return switch (answer.statusCode()) {
      case 404 -> FsError.NOT_FOUND;
      case 401, 403 -> FsError.ACCESS_DENIED;
      // another version, or a version without this range
      case 412, 416 -> FsError.STALE;
      case 501 -> FsError.UNSUPPORTED;
      // a store that is overloaded is waited for, as one that does not answer
      case 429, 500, 502, 503, 504 -> FsError.TIMED_OUT;
      default -> FsError.IO;
    };
  }

  /**
   * Tells whether no store could be asked, as while a gateway starts again, or a name server fails.
   * Such a store is waited for, as one that does not answer. In front of a gateway that is away, a
   * balancer accepts a connection and ends it without an answer, or in the middle of the handshake.
   */
  private static boolean isAway(Throwable cause) {
    return cause instanceof SocketException
        || cause instanceof UnknownHostException
        || cause instanceof NoHttpResponseException
        || cause instanceof ConnectionClosedException
        || cause instanceof EOFException;
  }

  private static boolean isLate(RuntimeException e) {
    return e instanceof ApiCallTimeoutException
        || e instanceof ApiCallAttemptTimeoutException
        || causeOf(e) instanceof SocketTimeoutException;
  }

  /** Returns an exception, or the first of its causes, that is of a type, or null. */
  private static <T> @Nullable T causeIn(Throwable e, Class<T> type) {
    Throwable cause = e;
    while (cause != null && !type.isInstance(cause)) {
      cause = cause.getCause() == cause ? null : cause.getCause();
    }
    return type.cast(cause);
  }

  /** Returns why a dataset cannot be opened, and what to do. */
  static FsException atStart(S3Settings settings, RuntimeException e) {
    String what = settings.location().toString();
    if (e instanceof AwsServiceException service) {
      return refused(settings, what, service);
    }
    if (String.valueOf(e.getMessage()).contains("load credentials")) {
      return new FsException(
          FsError.ACCESS_DENIED,
          what
              + ": no credentials found"
              + NoCredentials.why(String.valueOf(e.getMessage()))
              + "; a public bucket needs none with --s3-anonymous",
          e);
    }
    boolean late = isLate(e);
    String problem = late ? "it did not answer in time" : problem(causeOf(e));
    return new FsException(
        late ? FsError.TIMED_OUT : FsError.UNAVAILABLE,
        what + ": cannot reach " + place(settings) + ": " + problem,
        e);
  }

  private static String problem(Throwable cause) {
    return cause instanceof CertPathBuilderException
        ? "no authority that Java trusts has signed its certificate: name a store of certificates"
            + " with HOLDFAST_JAVA_OPTIONS=-Djavax.net.ssl.trustStore=FILE"
        : oneLine(cause);
  }

  /** Returns a message that no key begins with the prefix, and what to do. */
  static String nothingAt(S3Settings settings) {
    String bucket = settings.location().bucket();
    return settings.location()
        + ": nothing is there: check the prefix, as with 'aws s3 ls s3://"
        + bucket
        + "/"
        + endpointWords(settings)
        + "'; capitals count";
  }

  private static String endpointWords(S3Settings settings) {
    return settings.endpoint() == null ? "" : " --endpoint-url " + settings.endpoint();
  }

  private static FsException refused(S3Settings settings, String what, AwsServiceException e) {
    String region = regionOf(e);
    String code = codeOf(e);
    if (region != null && !region.equals(settings.region()) && isElsewhere(e)) {
      return new FsException(
          FsError.INVALID,
          what + ": the bucket is in the region " + region + ": use --s3-region " + region,
          e);
    }
    return switch (code) {
      case "NoSuchBucket" ->
          new FsException(
              FsError.NOT_FOUND,
              what
                  + ": no bucket "
                  + settings.location().bucket()
                  + " at "
                  + place(settings)
                  + ": check its name"
                  + (settings.endpoint() == null
                      ? "; a store other than AWS needs --s3-endpoint"
                      : " and --s3-endpoint"),
              e);
      case "RequestTimeTooSkewed" ->
          new FsException(
              FsError.UNAVAILABLE,
              what + ": this machine's clock is wrong: the store has " + dateOf(e) + "; set it",
              e);
      case "InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken", "InvalidToken" ->
          new FsException(
              FsError.ACCESS_DENIED,
              what
                  + ": the store does not take these credentials: "
                  + said(e)
                  + ": check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE",
              e);
      case "AuthorizationHeaderMalformed", "PermanentRedirect" ->
          new FsException(
              FsError.INVALID,
              what + ": the bucket is in another region; name it with --s3-region: " + said(e),
              e);
      default -> denied(what, e);
    };
  }

  private static FsException denied(String what, AwsServiceException e) {
    FsException plain = of(what, e);
    return plain.code() == FsError.ACCESS_DENIED
        ? new FsException(
            FsError.ACCESS_DENIED,
            what + ": access denied: these credentials need s3:ListBucket and s3:GetObject there",
            e)
        : plain.code() == FsError.NOT_FOUND
            ? new FsException(
                FsError.NOT_FOUND,
                plain.getMessage()
                    + ": is this a store of S3? check --s3-endpoint; many stores want --s3-path-style",
                e)
            : plain;
  }

  private static boolean isElsewhere(AwsServiceException e) {
    int status = e.statusCode();
    return status == 301 || status == 307 || status == 400;
  }

  /** Returns the region that an answer names, in its header or its text. */
  private static @Nullable String regionOf(AwsServiceException e) {
    if (e.awsErrorDetails() != null && e.awsErrorDetails().sdkHttpResponse() != null) {
      String told =
          e.awsErrorDetails()
              .sdkHttpResponse()
              .firstMatchingHeader("x-amz-bucket-region")
              .orElse(null);
      if (told != null && REGION.matcher(told).matches()) {
        return told;
      }
    }
    Matcher quoted = EXPECTED_REGION.matcher(String.valueOf(e.getMessage()));
    return quoted.find() ? quoted.group(1) : null;
  }

  private static String dateOf(AwsServiceException e) {
    return e.awsErrorDetails() == null || e.awsErrorDetails().sdkHttpResponse() == null
        ? "another time"
        : e.awsErrorDetails().sdkHttpResponse().firstMatchingHeader("Date").orElse("another time");
  }

  private static String codeOf(AwsServiceException e) {
    String code = e.awsErrorDetails() == null ? null : e.awsErrorDetails().errorCode();
    return code == null ? "" : code;
  }

  private static String said(AwsServiceException e) {
    String text = e.awsErrorDetails() == null ? null : e.awsErrorDetails().errorMessage();
    return (e.statusCode() + " " + codeOf(e) + (text == null ? "" : " " + text))
        .replaceAll("\\s+", " ")
        .trim();
  }

  private static String place(S3Settings settings) {
    return settings.endpoint() == null ? "S3" : settings.endpoint().toString();
  }

  private static Throwable causeOf(Throwable e) {
    Throwable cause = e;
    while (cause.getCause() != null && cause.getCause() != cause) {
      cause = cause.getCause();
    }
    return cause;
  }

  private static String oneLine(Throwable e) {
    String name = e.getClass().getSimpleName().replace("Exception", "");
    String words = name.replaceAll("(?<=[a-z])(?=[A-Z])", " ").toLowerCase(Locale.ROOT);
    String text = e.getMessage() == null ? "" : ": " + e.getMessage().replaceAll("\\s+", " ");
    return words + text;
  }
}
