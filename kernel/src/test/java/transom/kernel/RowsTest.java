package transom.kernel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.junit.jupiter.api.Test;

final class RowsTest {
    @Test
    void valuesOfSomeColumns() {
        Row row = RowFactory.create("key", 7, 2.5, null);
        assertArrayEquals(new Object[] {7L, 2.5}, Rows.values(row, 1, 3));
        assertArrayEquals(new Object[] {"key", 7L, 2.5, null}, Rows.values(row, 0, 4));
        assertEquals(0, Rows.values(row, 2, 2).length);
    }

    @Test
    void structsKeepAllOfTheirFields() {
        Row order = RowFactory.create("file", RowFactory.create(3, 4L), 5);
        Object[] found = (Object[]) Rows.value(order);
        assertArrayEquals(new Object[] {"file", new Object[] {3L, 4L}, 5L}, found);
        assertEquals(0, ((Object[]) Rows.value(RowFactory.create())).length);
    }

    @Test
    void decimalsBeyondSparkAreNull() {
        BigDecimal largest = new BigDecimal("99999999999999999999.5");
        assertEquals(largest, Rows.fitting(largest));
        assertNull(Rows.fitting(largest.add(BigDecimal.ONE)));
        assertEquals(1e300, Rows.fitting(1e300));
        assertNull(Rows.fitting(null));
    }

    @Test
    void waitingRowsAreHandedOverOnce() {
        var rows = new ArrayList<>(List.of(RowFactory.create(1), RowFactory.create(2)));
        var waiting = new Rows.Waiting(rows);
        assertEquals(RowFactory.create(1), waiting.next());
        assertEquals(RowFactory.create(2), waiting.next());
        assertFalse(waiting.hasNext());
    }
}
