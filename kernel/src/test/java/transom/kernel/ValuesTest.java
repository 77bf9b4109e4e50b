package transom.kernel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class ValuesTest {
    private static final long WIDE = (1L << 53) + 1;

    /** Values in their order, all different. */
    private static final List<Object> ASCENDING = Arrays.asList(
            null,
            false,
            true,
            Double.NEGATIVE_INFINITY,
            -1e300,
            Long.MIN_VALUE,
            new BigDecimal("-1.5"),
            0L,
            0.1,
            new BigDecimal("0.1000000000000000055511151231257827021181583404541015626"),
            1L,
            0x1p53,
            WIDE,
            Long.MAX_VALUE,
            0x1p63,
            new BigDecimal("1E+30"),
            Double.POSITIVE_INFINITY,
            "",
            "a",
            "ab",
            "a\uffff",
            "a\ud83d\ude00",
            "\ud7ff",
            "\ud800",
            "\ud83dx",
            "\udc00",
            "\ue000",
            "\uffff",
            "\ud83d\ude00",
            "\ud83d\ude01",
            "\udbff\udfff",
            new Object[0],
            new Object[] {null},
            new Object[] {1L},
            new Object[] {1L, null},
            new Object[] {new Object[] {1L}});

    @Test
    void valuesAreInOrder() {
        for (int one = 0; one < ASCENDING.size(); one++) {
            for (int other = 0; other < ASCENDING.size(); other++) {
                int order = Integer.signum(Values.compare(ASCENDING.get(one), ASCENDING.get(other)));
                assertEquals(Integer.compare(one, other), order, one + " and " + other);
                assertEquals(one == other, Values.same(ASCENDING.get(one), ASCENDING.get(other)));
            }
        }
        ArrayList<Object> shuffled = new ArrayList<>(ASCENDING);
        Collections.shuffle(shuffled, new Random(1));
        shuffled.sort(Values.ORDER);
        assertEquals(ASCENDING, shuffled);
    }

    @Test
    void numbersOfOneSizeAreTheSame() {
        List<List<Object>> sizes = List.of(
                List.of(0L, 0.0, -0.0, BigDecimal.ZERO, new BigDecimal("0.00")),
                List.of(1L, 1.0, new BigDecimal("1.000")),
                List.of(0.5, new BigDecimal("0.5"), new BigDecimal("0.50")),
                List.of(0x1p53, 1L << 53, new BigDecimal(1L << 53)),
                List.of(WIDE, BigDecimal.valueOf(WIDE)),
                List.of(0x1p63, new BigDecimal(0x1p63)));
        for (List<Object> same : sizes) {
            for (Object one : same) {
                for (Object other : same) {
                    assertTrue(Values.same(one, other));
                    assertEquals(0, Values.compare(one, other));
                    assertEquals(Values.hash(one), Values.hash(other));
                    assertEquals(new RowKey(Told.row(one, "x")), new RowKey(Told.row(other, "x")));
                }
            }
        }
        assertFalse(Values.same(WIDE, 0x1p53));
        assertFalse(Values.same(0.1, new BigDecimal("0.1")));
        assertFalse(Values.same(1L, true));
        assertNotEquals(new RowKey(Told.row(1L)), new RowKey(Told.row(1L, 1L)));
    }

    @Test
    void decimalsHaveOneForm() {
        assertEquals(new BigDecimal("1.5"), Values.oneForm(new BigDecimal("1.50")));
        assertEquals("1E+2", Values.oneForm(new BigDecimal("100")).toString());
        assertEquals(BigDecimal.ZERO, Values.oneForm(new BigDecimal("0.000")));
    }

    @Test
    void goingsComeBeforeComings() {
        List<Arrival> arrivals = new ArrayList<>(List.of(Told.change(1, -1, 1L), Told.change(0, 1, 2L)));
        arrivals.addAll(List.of(Told.change(0, -1, 3L), Told.in(0, 0, null, 4L)));
        arrivals.sort(Values.IN_ORDER);
        assertEquals(List.of(4L, 3L, 2L, 1L), arrivals.stream().map(a -> a.row()[0]).toList());
    }

    @Test
    void bytesKeepEveryValue() {
        Object[] row = ASCENDING.toArray();
        Codec.Writer writer = new Codec.Writer('T');
        writer.row(row);
        writer.row(null);
        writer.number(Long.MIN_VALUE);
        writer.number(-1);
        writer.count(Integer.MAX_VALUE);
        writer.fixed(-2);
        writer.value(new BigDecimal("123456789012345678901234567890.12345678"));
        Codec.Reader reader = new Codec.Reader(writer.done(), 'T', "test");
        assertArrayEquals(row, reader.row());
        assertEquals(null, reader.row());
        assertEquals(Long.MIN_VALUE, reader.number());
        assertEquals(-1, reader.number());
        assertEquals(Integer.MAX_VALUE, reader.count());
        assertEquals(-2, reader.fixed());
        assertEquals(new BigDecimal("123456789012345678901234567890.12345678"), reader.value());
        assertFalse(reader.more());
    }

    @Test
    void otherStateIsRefused() {
        byte[] state = new Order().save();
        assertRefused("the state of another machine was given to pairs: start without the old state", state);
        state[0] = 7;
        assertRefused("the state of pairs has version 7, not 1: start without the old state", state);
        assertRefused("the state of pairs has version nothing, not 1: start without the old state", new byte[0]);
    }

    private static void assertRefused(String words, byte[] state) {
        assertEquals(words, assertThrows(IllegalStateException.class, () -> Pairs.load(state)).getMessage());
    }

    @Test
    void whatIsNoValueIsRefused() {
        assertThrows(IllegalArgumentException.class, () -> Values.compare(1, 2L));
        assertThrows(IllegalArgumentException.class, () -> new Codec.Writer('T').value('x'));
    }
}
