package io.holdfast.fs.analyze;

import static org.assertj.core.api.Assertions.assertThat;

import java.awt.image.BufferedImage;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import javax.imageio.ImageIO;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

/** Pictures and pages, also of names that somebody chose to break them. */
class AnalysisPageTest {
  private static final String HOSTILE =
      "</title><script>alert(1)</script><img src=x onerror=alert(1)> & \" ' \u202e \u0000 ü";

  private static Analysis hostile() {
    return Reports.storage(HOSTILE, "/mnt/<b>&");
  }

  private static Document parsed(byte[] xml) throws Exception {
    return DocumentBuilderFactory.newInstance()
        .newDocumentBuilder()
        .parse(new ByteArrayInputStream(xml));
  }

  /** The page is well-formed XML, but for the tags that HTML does not close. */
  private static Document page(Analysis analysis) throws Exception {
    String page = new String(AnalysisPage.of(analysis), StandardCharsets.UTF_8);
    String closed =
        page.replaceFirst("<!DOCTYPE html>", "").replaceAll("<meta ([^>]*)>", "<meta $1/>");
    return parsed(closed.getBytes(StandardCharsets.UTF_8));
  }

  private static List<Element> elements(Document document, String name) {
    NodeList found = document.getElementsByTagName(name);
    return IntStream.range(0, found.getLength()).mapToObj(i -> (Element) found.item(i)).toList();
  }

  @Test
  void page_ofHostileNames_hasNoElementOfTheirs() throws Exception {
    Document page = page(hostile());
    assertThat(elements(page, "script")).isEmpty();
    assertThat(elements(page, "img")).isEmpty();
    assertThat(elements(page, "b")).isEmpty();
    assertThat(elements(page, "h1").get(0).getTextContent())
        .isEqualTo(
            "Job </title><script>alert(1)</script><img src=x onerror=alert(1)> & \" ' \\u202e \\x00"
                + " ü at /mnt/<b>&");
  }

  @Test
  void page_needsNothingElse_andForbidsIt() throws Exception {
    String text = new String(AnalysisPage.of(hostile()), StandardCharsets.UTF_8);
    Document page = page(hostile());
    for (Element each : elements(page, "*")) {
      for (String attribute : List.of("src", "style", "onload", "onclick")) {
        assertThat(each.hasAttribute(attribute)).as("%s %s", each, attribute).isFalse();
      }
      assertThat(each.getAttribute("href")).as("%s", each).isEmpty();
    }
    Matcher policy = Pattern.compile("content=\"(default-src[^\"]*)\"").matcher(text);
    assertThat(policy.find()).isTrue();
    String style = text.substring(text.indexOf("<style>") + 7, text.indexOf("</style>"));
    byte[] hash =
        MessageDigest.getInstance("SHA-256").digest(style.getBytes(StandardCharsets.UTF_8));
    assertThat(policy.group(1))
        .isEqualTo(
            "default-src 'none'; style-src 'sha256-"
                + Base64.getEncoder().encodeToString(hash)
                + "'; base-uri 'none'; form-action 'none'");
    assertThat(style).contains("prefers-color-scheme: dark").doesNotContain("url(", "@import");
  }

  @Test
  void page_hasPicturesTablesAndAdvice() throws Exception {
    Analysis analysis = Reports.storage("train", "/data");
    Document page = page(analysis);
    assertThat(elements(page, "svg")).hasSize(2);
    assertThat(elements(page, "svg")).allMatch(svg -> svg.getAttribute("role").equals("img"));
    assertThat(elements(page, "desc").get(0).getTextContent())
        .contains("epoch 2: 13.0 s, origin 74 %");
    assertThat(elements(page, "table")).hasSize(3);
    assertThat(elements(page, "p").get(0).getTextContent()).isEqualTo(analysis.advice());
    List<String> ids =
        elements(page, "*").stream()
            .map(each -> each.getAttribute("id"))
            .filter(id -> !id.isEmpty())
            .toList();
    assertThat(ids).doesNotHaveDuplicates().isNotEmpty();
    for (Element each : elements(page, "*")) {
      String clip = each.getAttribute("clip-path");
      if (!clip.isEmpty()) {
        assertThat(ids).contains(clip.substring("url(#".length(), clip.length() - 1));
      }
    }
  }

  @Test
  void page_ofNothing_isAPage() throws Exception {
    Document page = page(Reports.empty());
    assertThat(elements(page, "p").get(0).getTextContent()).startsWith("Cannot be told");
    assertThat(elements(page, "svg")).hasSize(1);
  }

  @Test
  void svg_ofHostileNames_isXmlWithBothCharts() throws Exception {
    Document svg = parsed(new AnalysisPlot(hostile()).picture().svg());
    Element root = svg.getDocumentElement();
    assertThat(root.getTagName()).isEqualTo("svg");
    assertThat(root.getAttribute("viewBox")).isEqualTo("0 0 800 1000");
    assertThat(elements(svg, "script")).isEmpty();
    assertThat(elements(svg, "desc").get(0).getTextContent())
        .contains("epoch 3: 13.1 s", "Predicted speed over", "35 % ");
    assertThat(elements(svg, "title").get(0).getTextContent()).contains("<script>");
  }

  @Test
  void png_hasBothCharts() throws Exception {
    byte[] png = new AnalysisPlot(Reports.storage("train", "/data")).picture().png();
    BufferedImage image = ImageIO.read(new ByteArrayInputStream(png));
    assertThat(image.getWidth()).isEqualTo(800);
    assertThat(image.getHeight()).isEqualTo(1000);
    byte[] one = new AnalysisPlot(Reports.empty()).picture().png();
    assertThat(ImageIO.read(new ByteArrayInputStream(one)).getHeight()).isEqualTo(500);
  }
}
