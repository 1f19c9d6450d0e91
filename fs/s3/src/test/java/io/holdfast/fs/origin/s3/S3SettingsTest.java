package io.holdfast.fs.origin.s3;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class S3SettingsTest {
  @ParameterizedTest
  @CsvSource({
    "eu-west-1, https://s3.eu-west-1.amazonaws.com",
    "us-gov-east-1, https://s3.us-gov-east-1.amazonaws.com",
    "cn-north-1, https://s3.cn-north-1.amazonaws.com.cn",
  })
  void amazon_isInTheRegionsDomain(String region, String endpoint) {
    assertThat(S3Settings.amazon(region)).hasToString(endpoint);
  }
}
