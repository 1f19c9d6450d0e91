package io.holdfast.fs.origin.s3;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/**
 * Tells why the client's chain of providers has found no credentials. The client has that only in
 * the text of its exception: behind the chain, in brackets, each provider with what it is made of
 * and its sentence. Stateless.
 */
final class NoCredentials {
  private static final String BEHIND_CHAIN = "]) : [";

  private static final Pattern NEXT_PROVIDER = Pattern.compile(", (?=\\w+CredentialsProvider\\()");

  /** The sentences of providers that were told of no credentials. */
  private static final Pattern NOT_TOLD =
      Pattern.compile(
          "must be specified either via|must be set|neither AWS_CONTAINER|IMDS"
              + "|contained no credentials for profile 'default'");

  private static final Pattern SSO = Pattern.compile("the 'sso(oidc)?' service module");

  private NoCredentials() {}

  /**
   * Returns the sentences of the providers that were told of credentials and have none, and what to
   * do.
   *
   * @param text the message of the client's exception
   */
  static String why(String text) {
    String sentences = String.join("; ", sentences(text));
    String fix =
        SSO.matcher(sentences).find()
            ? "name a profile in AWS_PROFILE that has 'credential_process = aws configure"
                + " export-credentials --profile PROFILE --format process'"
            : "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE";
    return (sentences.isEmpty() ? "" : " (" + sentences + ")") + ": " + fix;
  }

  private static List<String> sentences(String text) {
    int chain = text.indexOf(BEHIND_CHAIN);
    String list = chain < 0 ? "" : text.substring(chain + BEHIND_CHAIN.length());
    String words = list.replaceAll("\\s+", " ").replaceAll("]$", "");
    List<String> sentences = new ArrayList<>();
    for (String each : NEXT_PROVIDER.split(words, -1)) {
      int parenthesis = each.indexOf('(');
      String sentence = each.substring(behindParenthesis(each, parenthesis + 1));
      if (parenthesis > 0 && !NOT_TOLD.matcher(sentence).find()) {
        String name = each.substring(0, parenthesis);
        sentences.add(name + sentence.replaceFirst(": ProfileFile\\(.*", ""));
      }
    }
    return sentences;
  }

  /** Returns where the parenthesis ends that is open at a place. */
  private static int behindParenthesis(String text, int at) {
    int open = 1;
    int end = at;
    for (; end < text.length() && open > 0; end++) {
      char each = text.charAt(end);
      open += each == '(' ? 1 : each == ')' ? -1 : 0;
    }
    return end;
  }
}
