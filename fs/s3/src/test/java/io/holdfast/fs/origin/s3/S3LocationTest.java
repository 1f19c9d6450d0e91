package io.holdfast.fs.origin.s3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class S3LocationTest {
  @ParameterizedTest
  @CsvSource({
    "s3://bucket, bucket, '', s3://bucket",
    "s3://bucket/, bucket, '', s3://bucket",
    "s3://my.bucket-1/a, my.bucket-1, a/, s3://my.bucket-1/a",
    "s3://bucket/a/b c/, bucket, a/b c/, s3://bucket/a/b c",
    "S3://bucket/ü, bucket, ü/, s3://bucket/ü",
  })
  void parse_rightText_isBucketAndDirectory(
      String text, String bucket, String prefix, String shown) {
    S3Location location = S3Location.parse(text);
    assertThat(location.bucket()).isEqualTo(bucket);
    assertThat(location.prefix()).isEqualTo(prefix);
    assertThat(location).hasToString(shown);
    assertThat(S3Location.parse(shown)).isEqualTo(location);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "s3:",
        "s3:/bucket",
        "bucket/a",
        "http://bucket/a",
        "s3://",
        "s3:///a",
        "s3://a b/c",
        "s3://bucket//a",
        "s3://bucket/a//",
        "s3://bucket/a//b",
        "s3://bucket/../a",
        "s3://bucket/.",
        "s3://bucket/a/..",
        "s3://-bucket/a"
      })
  void parse_wrongText_isRefused(String text) {
    assertThatThrownBy(() -> S3Location.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("'");
  }
}
