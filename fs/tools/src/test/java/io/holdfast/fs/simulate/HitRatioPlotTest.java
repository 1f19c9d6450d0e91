package io.holdfast.fs.simulate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.fs.FsException;
import io.holdfast.fs.plot.Picture;
import io.holdfast.fs.plot.PlotFile;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import javax.imageio.ImageIO;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.w3c.dom.Document;

/** Pictures in both formats, and where they go. */
class HitRatioPlotTest {
  @TempDir Path temp;

  private static Picture plot() {
    List<Experiment.Point> points =
        List.of(new Experiment.Point(0.5, 0.25), new Experiment.Point(1, 1));
    return new HitRatioPlot(
            "A <title> & more",
            List.of(new Experiment.Curve("minio", points), new Experiment.Curve("lru", points)))
        .picture();
  }

  @Test
  void png_isAPicture() throws IOException {
    Path file = temp.resolve("Plot.PNG");
    PlotFile.of(file.toString()).write(plot());
    BufferedImage image = ImageIO.read(file.toFile());
    Set<Integer> colors = new HashSet<>();
    for (int x = 0; x < image.getWidth(); x++) {
      for (int y = 0; y < image.getHeight(); y++) {
        colors.add(image.getRGB(x, y) & 0xffffff);
      }
    }
    assertThat(image.getWidth()).isEqualTo(800);
    assertThat(colors).contains(0x0072b2, 0xd55e00, 0xffffff);
  }

  @Test
  void svg_isXmlThatNamesEveryPolicy() throws Exception {
    Path file = temp.resolve("plot.svg");
    PlotFile.of(file.toString()).write(plot());
    Document document =
        DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(file.toFile());
    assertThat(document.getDocumentElement().getTagName()).isEqualTo("svg");
    assertThat(document.getElementsByTagName("title").item(0).getTextContent())
        .isEqualTo("A <title> & more");
    assertThat(document.getElementsByTagName("desc").item(0).getTextContent())
        .contains("minio: 50% 0.250, 100% 1.000", "lru: 50% 0.250");
    assertThat(document.getElementsByTagName("ellipse").getLength()).isGreaterThan(3);
    assertThat(document.getElementsByTagName("path").getLength()).isGreaterThan(10);
  }

  @Test
  void file_thatIsThere_isReplacedAndNothingElseIsLeft() throws IOException {
    Path file = Files.writeString(temp.resolve("plot.svg"), "old");
    PlotFile.of(file.toString()).write(plot());
    assertThat(file).content().startsWith("<?xml");
    try (Stream<Path> files = Files.list(temp)) {
      assertThat(files).containsExactly(file);
    }
  }

  /** The folder goes away while it is drawn. */
  @Test
  void file_thatCannotBeWrittenInTheEnd_isAFailure() throws IOException {
    Path folder = Files.createDirectory(temp.resolve("folder"));
    PlotFile file = PlotFile.of(folder.resolve("plot.svg").toString());
    Files.delete(folder);
    assertThatThrownBy(() -> file.write(plot()))
        .isInstanceOf(FsException.class)
        .hasMessageContaining("plot.svg' cannot be written");
  }

  @Test
  void file_thatCannotBe_isToldBeforeAnythingIsDrawn() throws IOException {
    assertThatThrownBy(() -> PlotFile.of("plot.gif"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("'plot.gif' is no picture's name: end it with .png or .svg");
    String inNone = temp.resolve("none/plot.png").toString();
    assertThatThrownBy(() -> PlotFile.of(inNone))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("folder that does not exist");
    String directory = Files.createDirectory(temp.resolve("d.svg")).toString();
    assertThatThrownBy(() -> PlotFile.of(directory))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("is a directory");
    assertThatThrownBy(() -> PlotFile.of("/proc/self/plot.png"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("cannot be written");
  }

  @Test
  void fonts_areThereWhereTestsRun() throws IOException {
    Picture.requireFonts("--plot");
  }
}
