package io.holdfast.fs.simulate;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.regex.Pattern;
import javax.xml.XMLConstants;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import javax.xml.transform.OutputKeys;
import javax.xml.transform.Transformer;
import javax.xml.transform.TransformerException;
import javax.xml.transform.TransformerFactory;
import javax.xml.transform.dom.DOMSource;
import javax.xml.transform.stream.StreamResult;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.SAXException;

/**
 * Finishes an SVG picture, in which letters are only shapes. Adds a title and a description, which
 * programs can search or read out, and rounds coordinates, which halves the size. Stateless.
 */
final class SvgText {
  private static final String SVG = "http://www.w3.org/2000/svg";

  /**
   * A feature of the parser: the picture names its document type, and the parser must not load that
   * from the network.
   */
  private static final String LOAD_DOCUMENT_TYPE =
      "http://apache.org/xml/features/nonvalidating/load-external-dtd";

  private static final Pattern DECIMALS = Pattern.compile("(\\.\\d\\d)\\d+");

  private SvgText() {}

  static byte[] add(byte[] svg, String title, String description) throws IOException {
    try {
      DocumentBuilderFactory factory = DocumentBuilderFactory.newInstance();
      factory.setNamespaceAware(true);
      factory.setFeature(XMLConstants.FEATURE_SECURE_PROCESSING, true);
      factory.setFeature(LOAD_DOCUMENT_TYPE, false);
      Document document = factory.newDocumentBuilder().parse(new ByteArrayInputStream(svg));
      Element root = document.getDocumentElement();
      root.setAttribute("role", "img");
      root.insertBefore(element(document, "desc", description), root.getFirstChild());
      root.insertBefore(element(document, "title", title), root.getFirstChild());
      roundPaths(document);
      return bytes(document);
    } catch (ParserConfigurationException | SAXException | TransformerException e) {
      throw new IOException("the chart library's SVG cannot be read: " + e.getMessage(), e);
    }
  }

  private static Element element(Document document, String name, String text) {
    Element element = document.createElementNS(SVG, name);
    element.setTextContent(text);
    return element;
  }

  private static void roundPaths(Document document) {
    NodeList paths = document.getElementsByTagNameNS(SVG, "path");
    for (int i = 0; i < paths.getLength(); i++) {
      Element path = (Element) paths.item(i);
      path.setAttribute("d", DECIMALS.matcher(path.getAttribute("d")).replaceAll("$1"));
    }
  }

  private static byte[] bytes(Document document) throws TransformerException {
    Transformer transformer = TransformerFactory.newInstance().newTransformer();
    transformer.setOutputProperty(OutputKeys.ENCODING, "UTF-8");
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    transformer.transform(new DOMSource(document), new StreamResult(bytes));
    return bytes.toByteArray();
  }
}
