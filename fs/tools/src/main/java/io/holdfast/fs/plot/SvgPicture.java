package io.holdfast.fs.plot;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
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
 * The chart library's SVG, finished. Letters are only shapes there, so a title and a description
 * are added, which programs can search or read out. Coordinates are rounded, which halves the size.
 * Not thread-safe.
 */
final class SvgPicture {
  private static final String SVG = "http://www.w3.org/2000/svg";

  /**
   * A feature of the parser: the picture names its document type, and the parser must not load that
   * from the network.
   */
  private static final String LOAD_DOCUMENT_TYPE =
      "http://apache.org/xml/features/nonvalidating/load-external-dtd";

  private static final Pattern DECIMALS = Pattern.compile("(\\.\\d\\d)\\d+");

  private final Document document;

  private SvgPicture(Document document) {
    this.document = document;
  }

  /**
   * Puts charts together, one below the other.
   *
   * @param parts at least one
   */
  static SvgPicture of(List<byte[]> parts, String title, String description) throws IOException {
    try {
      Document document = parsed(parts.get(0));
      if (parts.size() > 1) {
        stack(document, parts);
      }
      Element root = document.getDocumentElement();
      root.setAttribute("role", "img");
      root.insertBefore(element(document, "desc", description), root.getFirstChild());
      root.insertBefore(element(document, "title", title), root.getFirstChild());
      roundPaths(document);
      return new SvgPicture(document);
    } catch (ParserConfigurationException | SAXException e) {
      throw new IOException("the chart library's SVG cannot be read: " + e.getMessage(), e);
    }
  }

  private static Document parsed(byte[] svg)
      throws ParserConfigurationException, SAXException, IOException {
    DocumentBuilderFactory factory = DocumentBuilderFactory.newInstance();
    factory.setNamespaceAware(true);
    factory.setFeature(XMLConstants.FEATURE_SECURE_PROCESSING, true);
    factory.setFeature(LOAD_DOCUMENT_TYPE, false);
    return factory.newDocumentBuilder().parse(new ByteArrayInputStream(svg));
  }

  /** Puts the content of all charts into groups of the first one's root. */
  private static void stack(Document document, List<byte[]> parts)
      throws ParserConfigurationException, SAXException, IOException {
    Element root = document.getDocumentElement();
    double height = number(root.getAttribute("height"));
    double width = number(root.getAttribute("width"));
    for (int i = 0; i < parts.size(); i++) {
      Element content = i == 0 ? root : parsed(parts.get(i)).getDocumentElement();
      Element group = document.createElementNS(SVG, "g");
      group.setAttribute("transform", "translate(0 " + Math.round(i * height) + ")");
      prefixIds(content, "p" + i + "-");
      moveChildren(document, content, group);
      root.appendChild(group);
    }
    long all = Math.round(parts.size() * height);
    root.setAttribute("height", all + "px");
    root.setAttribute("viewBox", "0 0 " + Math.round(width) + " " + all);
  }

  private static double number(String pixels) {
    return Double.parseDouble(pixels.replace("px", ""));
  }

  private static void moveChildren(Document document, Element from, Element to) {
    NodeList children = from.getChildNodes();
    int count = children.getLength();
    for (int i = 0; i < count; i++) {
      to.appendChild(document.adoptNode(children.item(0)));
    }
  }

  private static void prefixIds(Element root, String prefix) {
    NodeList all = root.getElementsByTagNameNS(SVG, "*");
    for (int i = 0; i < all.getLength(); i++) {
      Element each = (Element) all.item(i);
      if (each.hasAttribute("id")) {
        each.setAttribute("id", prefix + each.getAttribute("id"));
      }
      for (String reference : List.of("clip-path", "style")) {
        if (each.hasAttribute(reference)) {
          each.setAttribute(
              reference, each.getAttribute(reference).replace("url(#", "url(#" + prefix));
        }
      }
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

  /** Returns the bytes of a file. */
  byte[] file() throws IOException {
    return bytes(false);
  }

  /** Returns the same as an element of a page, see {@link Picture#element}. */
  String element(String id) throws IOException {
    Element root = document.getDocumentElement();
    prefixIds(root, id + "-");
    NodeList all = document.getElementsByTagNameNS(SVG, "*");
    for (int i = 0; i < all.getLength(); i++) {
      styleToAttributes((Element) all.item(i));
    }
    for (String size : List.of("width", "height", "x", "y")) {
      root.removeAttribute(size);
    }
    return new String(bytes(true), StandardCharsets.UTF_8);
  }

  /** A page may forbid style attributes; attributes for each property say the same. */
  private static void styleToAttributes(Element element) {
    for (String property : element.getAttribute("style").split(";", -1)) {
      int colon = property.indexOf(':');
      if (colon > 0) {
        element.setAttribute(
            property.substring(0, colon).strip(), property.substring(colon + 1).strip());
      }
    }
    element.removeAttribute("style");
  }

  private byte[] bytes(boolean element) throws IOException {
    try {
      Transformer transformer = TransformerFactory.newInstance().newTransformer();
      transformer.setOutputProperty(OutputKeys.ENCODING, "UTF-8");
      transformer.setOutputProperty(OutputKeys.OMIT_XML_DECLARATION, element ? "yes" : "no");
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      transformer.transform(new DOMSource(document), new StreamResult(bytes));
      return bytes.toByteArray();
    } catch (TransformerException e) {
      throw new IOException("the picture cannot be written: " + e.getMessage(), e);
    }
  }
}
