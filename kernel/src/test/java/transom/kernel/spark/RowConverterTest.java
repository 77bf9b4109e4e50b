package transom.kernel.spark;

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

final class RowConverterTest {
    @Test
    void valuesOfSomeColumns() {
        Row row = RowFactory.create("key", 7, 2.5, null);
        assertArrayEquals(new Object[] {7L, 2.5}, RowConverter.values(row, 1, 3));
        assertArrayEquals(new Object[] {"key", 7L, 2.5, null}, RowConverter.values(row, 0, 4));
        assertEquals(0, RowConverter.values(row, 2, 2).length);
    }

    @Test
    void structsBecomeNestedArrays() {
        Row order = RowFactory.create("file", RowFactory.create(3, 4L), 5);
        Object[] values = (Object[]) RowConverter.value(order);
        assertArrayEquals(new Object[] {"file", new Object[] {3L, 4L}, 5L}, values);
        assertEquals(0, ((Object[]) RowConverter.value(RowFactory.create())).length);
    }

    @Test
    void decimalsThatOverflowSparkAreNull() {
        BigDecimal largest = new BigDecimal("99999999999999999999.5");
        assertEquals(largest, RowConverter.fitToSpark(largest));
        assertNull(RowConverter.fitToSpark(largest.add(BigDecimal.ONE)));
        assertEquals(1e300, RowConverter.fitToSpark(1e300));
        assertNull(RowConverter.fitToSpark(null));
    }

    @Test
    void drainingIteratorReturnsEachRowOnce() {
        var rows = new ArrayList<>(List.of(RowFactory.create(1), RowFactory.create(2)));
        var iterator = new RowConverter.DrainingIterator(rows);
        assertEquals(RowFactory.create(1), iterator.next());
        assertEquals(RowFactory.create(2), iterator.next());
        assertFalse(iterator.hasNext());
    }
}
