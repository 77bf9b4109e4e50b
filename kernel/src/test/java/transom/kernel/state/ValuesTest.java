package transom.kernel.state;

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
import transom.kernel.InputRow;
import transom.kernel.RecordedEmissions;
import transom.kernel.machines.IntervalJoinMachine;
import transom.kernel.machines.RowNumberMachine;

final class ValuesTest {
    private static final long WIDE = (1L << 53) + 1;

    /** Distinct values in ascending order. */
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
    void valuesAreOrdered() {
        for (int left = 0; left < ASCENDING.size(); left++) {
            for (int right = 0; right < ASCENDING.size(); right++) {
                int order = Integer.signum(Values.compare(ASCENDING.get(left), ASCENDING.get(right)));
                assertEquals(Integer.compare(left, right), order, left + " and " + right);
                assertEquals(left == right, Values.same(ASCENDING.get(left), ASCENDING.get(right)));
            }
        }
        ArrayList<Object> shuffled = new ArrayList<>(ASCENDING);
        Collections.shuffle(shuffled, new Random(1));
        shuffled.sort(Values.ORDER);
        assertEquals(ASCENDING, shuffled);
    }

    @Test
    void equalNumbersOfDifferentTypesAreEqual() {
        List<List<Object>> groups = List.of(
                List.of(0L, 0.0, -0.0, BigDecimal.ZERO, new BigDecimal("0.00")),
                List.of(1L, 1.0, new BigDecimal("1.000")),
                List.of(0.5, new BigDecimal("0.5"), new BigDecimal("0.50")),
                List.of(0x1p53, 1L << 53, new BigDecimal(1L << 53)),
                List.of(WIDE, BigDecimal.valueOf(WIDE)),
                List.of(0x1p63, new BigDecimal(0x1p63)));
        for (List<Object> equalNumbers : groups) {
            for (Object left : equalNumbers) {
                for (Object right : equalNumbers) {
                    assertTrue(Values.same(left, right));
                    assertEquals(0, Values.compare(left, right));
                    assertEquals(Values.hash(left), Values.hash(right));
                    assertEquals(
                            new RowKey(RecordedEmissions.values(left, "x")),
                            new RowKey(RecordedEmissions.values(right, "x")));
                }
            }
        }
        assertFalse(Values.same(WIDE, 0x1p53));
        assertFalse(Values.same(0.1, new BigDecimal("0.1")));
        assertFalse(Values.same(1L, true));
        assertNotEquals(new RowKey(RecordedEmissions.values(1L)), new RowKey(RecordedEmissions.values(1L, 1L)));
    }

    @Test
    void decimalsAreNormalized() {
        assertEquals(new BigDecimal("1.5"), Values.normalized(new BigDecimal("1.50")));
        assertEquals("1E+2", Values.normalized(new BigDecimal("100")).toString());
        assertEquals(BigDecimal.ZERO, Values.normalized(new BigDecimal("0.000")));
    }

    @Test
    void retractionsPrecedeInsertions() {
        List<InputRow> inputs = new ArrayList<>();
        inputs.addAll(List.of(RecordedEmissions.change(1, -1, 1L), RecordedEmissions.change(0, 1, 2L)));
        inputs.addAll(List.of(RecordedEmissions.change(0, -1, 3L), RecordedEmissions.windowRow(0, 0, null, 4L)));
        inputs.sort(Values.INPUT_ORDER);
        assertEquals(List.of(4L, 3L, 2L, 1L), inputs.stream().map(input -> input.row()[0]).toList());
    }

    @Test
    void everyValueIsDecodedAsEncoded() {
        Object[] row = ASCENDING.toArray();
        Codec.Writer writer = new Codec.Writer('T');
        writer.row(row);
        writer.row(null);
        writer.number(Long.MIN_VALUE);
        writer.number(-1);
        writer.count(Integer.MAX_VALUE);
        writer.fixed(-2);
        writer.value(new BigDecimal("123456789012345678901234567890.12345678"));
        Codec.Reader reader = new Codec.Reader(writer.toBytes(), 'T', "test");
        assertArrayEquals(row, reader.row());
        assertEquals(null, reader.row());
        assertEquals(Long.MIN_VALUE, reader.number());
        assertEquals(-1, reader.number());
        assertEquals(Integer.MAX_VALUE, reader.count());
        assertEquals(-2, reader.fixed());
        assertEquals(new BigDecimal("123456789012345678901234567890.12345678"), reader.value());
        assertFalse(reader.hasMore());
    }

    @Test
    void foreignStateIsRefused() {
        byte[] state = new RowNumberMachine().save();
        assertRefused("the state of another machine was given to pairs: start without the old state", state);
        state[0] = 7;
        assertRefused("the state of pairs has version 7, not 1: start without the old state", state);
        assertRefused("the state of pairs has version nothing, not 1: start without the old state", new byte[0]);
    }

    /** Asserts that an interval join refuses a state with a message. */
    private static void assertRefused(String message, byte[] state) {
        Throwable error = assertThrows(IllegalStateException.class, () -> IntervalJoinMachine.load(state));
        assertEquals(message, error.getMessage());
    }

    @Test
    void unknownTypesAreRefused() {
        assertThrows(IllegalArgumentException.class, () -> Values.compare(1, 2L));
        assertThrows(IllegalArgumentException.class, () -> new Codec.Writer('T').value('x'));
    }
}
