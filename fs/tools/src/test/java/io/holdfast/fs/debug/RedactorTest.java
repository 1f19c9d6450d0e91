package io.holdfast.fs.debug;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.concurrent.FutureTask;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class RedactorTest {
  private static final Redactor REDACTOR = new Redactor(List.of());

  /** Texts in which the secrets are in angle brackets. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "AWS_ACCESS_KEY_ID=<AKIAIOSFODNN7EXAMPLE>",
        "AWS_SECRET_ACCESS_KEY=<wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY>",
        "AWS_SESSION_TOKEN: <FwoGZXIvYXdzEBYaD>, next",
        "export AWS_ANYTHING=<value>; true",
        "key <ASIAIOSFODNN7EXAMPLE> is gone",
        "wrong key <wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLE1E4> was given",
        "https://<user:pa55>@store:9000/bucket",
        "https://<token>@store/bucket",
        "GET /x?X-Amz-Signature=<0a1b>&X-Amz-Credential=<AK/2026>&partNumber=1",
        "GET https://host/x?sig=<0a1b>&n=1",
        "Authorization: <AWS4-HMAC-SHA256 Credential=a/b, SignedHeaders=h, Signature=0a>",
        "header Bearer <abc.def.ghi>",
        "{\"secretAccessKey\" : \"<s3cr\\\"et>\", \"size\" : 3}",
        "{\"password\":\"<hunter2>\"}",
        "client_secret=<hunter2>&grant=1",
        "password = '<hunter2>'",
        "--s3-secret-key <hunter2> --capacity 64G",
        "--api-key=<hunter2> --capacity 64G",
        "jwt <eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N>",
        "hub <hf_abcdefghijklmnopqrstuvwxyz>",
        "-Dcom.x.trustStorePassword=<changeit> -Xmx1g",
        "HTTPS_PROXY=http://<bob:p/ss@w0rd>@proxy:3128",
        "password=<abc,defghijkl>",
        "password: \"<my long pass>\"",
        "--s3-secret '<two words here>' --capacity 64G",
        "--s3-secret 'it'\\''<s here>'",
        "--s3-secret \"<two words",
        "--token <two words here>",
        "db_password = <hunter2;moresecret>",
        "token-file-secret=<hunter2>",
        "x-file-token=<hunter2>",
        "wrong access-token <hunter2>",
        "(http://a,http://<bob:pa55>@store)",
        "jwt x-<eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N>",
        "AWS_SECRET_ACCESS_KEY='<two words>'",
        "key <MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj> read"
      })
  void secret_ofEachKind_isTakenOut(String marked) {
    String text = marked.replaceAll("[<>]", "");
    String clean = REDACTOR.redact(text);
    assertThat(clean).contains(Redactor.REMOVED);
    for (String part : marked.split("<", -1)) {
      int end = part.indexOf('>');
      if (end > 0) {
        assertThat(clean).doesNotContain(part.substring(0, end));
      }
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "cluster-secret-file  /etc/holdfast/secret  option",
        "--cluster-secret-file=/etc/holdfast/secret --capacity=64G",
        "2026-11-21T19:28:45.606Z ERROR [main] Serve: the start failed",
        "/sys/fs/fuse/connections/40/waiting  0",
        "origin=s3://datasets/imagenet mountpoint=/mnt/imagenet name=mnt-imagenet",
        "\tat io.holdfast.fs.daemon.Daemon.start(Daemon.java:120)",
        "VmLck:\t     602 kB",
        "read https://minio:9000/bucket/train/0001.jpg",
        "d4c74594d841139328695756648b6bd6-sized 5feceb66ffc86f38d952786c6d696c79c2dbc239"
      })
  void text_withoutSecrets_stays(String text) {
    assertThat(REDACTOR.redact(text)).isEqualTo(text);
  }

  @Test
  void key_inPem_isTakenOutAlsoWhenItIsCut() {
    String key = "-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabcd\n-----END RSA PRIVATE KEY-----";
    assertThat(REDACTOR.redact("a\n" + key + "\nb")).isEqualTo("a\n[removed]\nb");
    assertThat(REDACTOR.redact("a\n" + key.substring(0, 40) + "\nb")).isEqualTo("a\n[removed]");
    assertThat(REDACTOR.redact(key.substring(33) + "\nb")).isEqualTo("[removed]\nb");
    String certificate = "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----";
    assertThat(REDACTOR.redact(certificate + "\n" + key + "\nb"))
        .isEqualTo(certificate + "\n[removed]\nb");
  }

  @Test
  void known_secrets_areTakenOutWhereverTheyStand() {
    Redactor redactor = new Redactor(List.of("correct horse", "correct horse battery", "short"));
    assertThat(redactor.redact("<correct horse battery> correct horse short"))
        .isEqualTo("<[removed]> [removed] short");
  }

  /** Whatever a known secret is and wherever it stands, nothing of its text is left. */
  @Property(tries = 200)
  void anySecret_inAnyPlace_isTakenOut(
      @ForAll("secrets") String secret, @ForAll("places") String place) {
    String clean = new Redactor(List.of(secret)).redact(place.replace("@", secret));
    assertThat(clean).doesNotContain(secret);
  }

  /** A value behind the name of a secret goes, though nobody knows it. */
  @Property(tries = 200)
  void unknownSecret_behindItsName_isTakenOut(
      @ForAll("secrets") String secret, @ForAll("named") String place) {
    assertThat(REDACTOR.redact(place.replace("@", secret))).doesNotContain(secret);
  }

  /** Secrets have blanks, commas and all else in them; none of their parts is left either. */
  @Property(tries = 500)
  void unknownSecret_ofSeveralParts_isTakenOutWhole(
      @ForAll("parts") List<String> parts,
      @ForAll("separators") String separator,
      @ForAll("lines") String line) {
    String clean = REDACTOR.redact(line.replace("@", String.join(separator, parts)));
    assertThat(clean).contains(Redactor.REMOVED);
    parts.forEach(part -> assertThat(clean).doesNotContain(part));
  }

  @Provide
  Arbitrary<List<String>> parts() {
    return Arbitraries.strings()
        .withCharRange('A', 'Z')
        .withCharRange('0', '9')
        .ofMinLength(6)
        .ofMaxLength(12)
        .map(text -> "x" + text)
        .list()
        .ofMinSize(2)
        .ofMaxSize(4);
  }

  @Provide
  Arbitrary<String> separators() {
    return Arbitraries.of(
        ",", ";", " ", "  ", "\t", "&", "}", "]", ")", "/", "=", ":", "|", "%", "#", "?", "$", "<");
  }

  @Provide
  Arbitrary<String> lines() {
    return Arbitraries.of(
        "password=@",
        "db_password = @\nnext",
        "secret: \"@\" next",
        "token: '@', next",
        "{\"credential\": \"@\"}",
        "AWS_SECRET_ACCESS_KEY=@",
        "--api-key @",
        "--s3-secret '@' --more",
        "--s3-secret=\"@\" --more");
  }

  /** Anybody may plant a long line, in a path for example. */
  @ParameterizedTest
  @MethodSource("longLines")
  void long_line_isTakenOutWithALittleStack(String line, String expected) throws Exception {
    FutureTask<String> clean = new FutureTask<>(() -> REDACTOR.redact(line));
    new Thread(null, clean, "redacts", 512 << 10).start();
    assertThat(clean.get()).isEqualTo(expected);
  }

  static List<Arguments> longLines() {
    String letters = "a".repeat(100_000);
    String escapes = "\\x".repeat(50_000);
    return List.of(
        Arguments.of("token='" + letters + "'", "token=\"[removed]\""),
        Arguments.of("token=\"" + letters + "\" b", "token=\"[removed]\" b"),
        Arguments.of("token='" + escapes + "'", "token=\"[removed]\""),
        Arguments.of("token=\"" + escapes + "\"", "token=\"[removed]\""),
        Arguments.of("token=" + "'a'\"b\"\\c".repeat(12_500), "token=\"[removed]\""),
        Arguments.of("token='" + escapes, "token=\"[removed]\""),
        Arguments.of("--token '" + letters + "' b", "--token \"[removed]\" b"),
        Arguments.of("AWS_X='" + letters + "'", "AWS_X=\"[removed]\""),
        Arguments.of("a\n".repeat(50_000) + "-----END PRIVATE KEY-----", "[removed]"),
        Arguments.of("-----BEGIN PRIVATE KEY-----" + "a\n".repeat(50_000), "[removed]"),
        Arguments.of(letters, letters),
        unchanged("token".repeat(20_000)),
        unchanged("-token".repeat(20_000)),
        unchanged("token.".repeat(20_000)),
        unchanged("a://".repeat(25_000)),
        unchanged("-eyJ".repeat(25_000)),
        Arguments.of("token".repeat(20_000) + "=x1", "token".repeat(20_000) + "=[removed]"));
  }

  private static Arguments unchanged(String line) {
    return Arguments.of(line, line);
  }

  @Test
  void environment_addressWithAUser_itsUserAndPasswordAreKnown() {
    assertThat(KnownSecrets.of(Map.of("https_proxy", "http://bob:p/ss@w0rd@proxy:3128/")))
        .containsExactly("bob:p/ss@w0rd", "p/ss@w0rd");
    assertThat(KnownSecrets.of(Map.of("HTTP_PROXY", "http://proxy:3128"))).isEmpty();
  }

  @Test
  void known_keyOfSeveralLines_eachLineGoes() {
    Redactor redactor = new Redactor(List.of("-----BEGIN X-----\nabcdefgh1\nijklmnop2\n"));
    assertThat(redactor.redact("a ijklmnop2 b -----BEGIN X-----"))
        .isEqualTo("a [removed] b -----BEGIN X-----");
  }

  @Provide
  Arbitrary<String> secrets() {
    return Arbitraries.strings()
        .withCharRange('a', 'z')
        .withCharRange('A', 'Z')
        .withCharRange('0', '9')
        .withChars("+/_.~$\\")
        .ofMinLength(12)
        .ofMaxLength(60)
        .map(text -> "x" + text);
  }

  @Provide
  Arbitrary<String> places() {
    return Arbitraries.of(
        "@", "log line with @ in it", "a=@", "{\"k\":\"@\"}", "x@y", "/path/@/file", "\n@\n");
  }

  @Provide
  Arbitrary<String> named() {
    return Arbitraries.of(
        "AWS_SECRET_ACCESS_KEY=@",
        "aws_session_token = @\nnext",
        "{\"credential\": \"@\"}",
        "password: @, next",
        "?X-Amz-Security-Token=@&n=1",
        "Authorization: Bearer @",
        "--token @ --more");
  }
}
