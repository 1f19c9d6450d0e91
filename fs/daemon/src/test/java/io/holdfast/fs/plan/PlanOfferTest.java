package io.holdfast.fs.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.BitSet;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What nodes tell each other, and what no node believes. */
final class PlanOfferTest {
  private static final String NAME = "0123456789abcdefghijklmnopqrstuvwxyz_-ABCDE";

  private static String text(String order, String room, String ranks, String residents) {
    return "holdfast-plan 1\n%s\n%s\n%s\n%s\n".formatted(order, room, ranks, residents);
  }

  @Test
  void parse_ofWhatWasWritten_isTheSame() {
    BitSet residents = new BitSet();
    residents.set(3);
    residents.set(99);
    PlanOffer offer =
        new PlanOffer(
            NAME, 7, 9, List.of(0, 3, 8), 100, 1L << 40, (1L << 40) - 1, 1L << 50, residents);

    assertThat(PlanOffer.parse(offer.toString())).isEqualTo(offer);
    assertThat(offer.toString())
        .isEqualTo(
            text(
                "order " + NAME + " epoch 7 world 9 files 100",
                "capacity 1099511627776 room 1099511627775 dataset 1125899906842624",
                "ranks 0 3 8",
                "residents CAAAAAAAAAAAAAAACA"));
  }

  @Test
  void parse_ofManyRanksAndFiles_neitherFailsNorTakesLong() {
    BitSet residents = new BitSet();
    residents.set(0, 20_000_000, true);
    List<Integer> ranks =
        java.util.stream.IntStream.range(0, PlanOffer.MOST_RANKS).boxed().toList();
    PlanOffer offer =
        new PlanOffer(NAME, 0, PlanOffer.MOST_RANKS, ranks, 20_000_000, 1, 1, 1, residents);

    assertThat(PlanOffer.parse(offer.toString())).isEqualTo(offer);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "holdfast-plan 2\n",
        "order %s epoch 0 world 2 files 8|capacity 1 room 1 dataset 1|ranks 2|residents AA",
        "order %s epoch 0 world 2 files 8|capacity 1 room 1 dataset 1|ranks 1 0|residents AA",
        "order %s epoch 0 world 2 files 8|capacity 1 room 1 dataset 1|ranks 1 1|residents AA",
        "order %s epoch 0 world 2 files 8|capacity 1 room 1 dataset 1|ranks |residents AA",
        "order %s epoch 0 world 2 files 8|capacity 1 room 1 dataset 1|ranks  1|residents AA",
        "order %s epoch 0 world 2 files 8|capacity 1 room 1 dataset 1|ranks 99999999999|residents AA",
        "order %s epoch 0 world 9999 files 8|capacity 1 room 1 dataset 1|ranks 1|residents AA",
        "order %s epoch 0 world 2 files 7|capacity 1 room 1 dataset 1|ranks 1|residents gA",
        "order %s epoch 0 world 2 files 8|capacity 1 room 1 dataset 1|ranks 1|residents A",
        "order %s epoch 0 world 2 files 8|capacity -1 room 1 dataset 1|ranks 1|residents AA",
        "order %s epoch 9999999999 world 2 files 8|capacity 1 room 1 dataset 1|ranks 1|residents AA",
        "order no epoch 0 world 2 files 8|capacity 1 room 1 dataset 1|ranks 1|residents AA",
      })
  void parse_ofAnythingElse_isRejected(String lines) {
    String text = "holdfast-plan 1\n" + lines.formatted(NAME).replace('|', '\n') + "\n";
    assertThatIllegalArgumentException().isThrownBy(() -> PlanOffer.parse(text));
  }
}
