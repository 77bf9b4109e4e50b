package transom.kernel.machines;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static transom.kernel.RecordedEmissions.change;
import static transom.kernel.RecordedEmissions.windowRow;
import static transom.kernel.RecordedEmissions.marker;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import transom.kernel.InputRow;
import transom.kernel.Machine;
import transom.kernel.RecordedEmissions;

/** Machines with two sides. */
final class JoinMachinesTest {
    private final RecordedEmissions emissions = new RecordedEmissions();

    /** An insertion or retraction on side 0 with the join key 1 and a sort key. */
    private static InputRow keyedChange(int sign, long order, String value) {
        return new InputRow(0, 1, true, sign, order, RecordedEmissions.values(1L), RecordedEmissions.values(value));
    }

    /** The factory of joins of current windows, whose sides arrive as "intervals" (changes) or "windows". */
    private static MachineFactories.MachineFactory product(String left, String right) {
        return MachineFactories.of(
                "{\"machine\": \"product\", \"left\": \"" + left + "\", \"right\": \"" + right + "\"}");
    }

    /** The factory of inner joins of changelogs with one value per side. */
    private static MachineFactories.MachineFactory pairs() {
        return MachineFactories.of("{\"machine\": \"join\", \"emit\": \"inner\", \"widths\": [1, 1]}");
    }

    @Test
    void windowsAreJoinedByKey() {
        MachineFactories.MachineFactory factory = product("windows", "windows");
        Machine machine = factory.create();
        machine.feed(1, List.of(windowRow(0, 1, 1L, "a"), windowRow(0, 1, 2L, "b"), marker(0, 2)), emissions);
        assertEquals(List.of(), emissions.lines());
        machine = factory.load(machine.save());
        machine.feed(
                2,
                List.of(windowRow(1, 1, 2.0, "x"), windowRow(1, 1, 2.0, "y"), windowRow(1, 1, null, "z")),
                emissions);
        assertEquals(List.of("2/1 window", "2/1 2 [b, x]", "2/1 3 [b, y]", "2/2 window"), emissions.lines());
        machine.feed(3, List.of(), emissions);
        assertEquals(List.of(), emissions.lines());
        assertEquals(5, machine.held());
    }

    @Test
    void changesUpdateTheCurrentWindow() {
        MachineFactories.MachineFactory factory = product("intervals", "windows");
        Machine machine = factory.create();
        InputRow rightRow = windowRow(1, 1, 1L, "x");
        InputRow insertionOfB = keyedChange(1, 2, "b");
        machine.feed(1, List.of(insertionOfB, keyedChange(1, 1, "a"), insertionOfB, marker(0, 1), rightRow), emissions);
        assertEquals(List.of("1/1 window", "1/1 2 [a, x]", "1/1 3 [b, x]", "1/1 4 [b, x]"), emissions.lines());
        machine.feed(2, List.of(keyedChange(-1, 2, "b"), keyedChange(1, 0, "c")), emissions);
        assertEquals(List.of(), emissions.lines());
        assertEquals(4, machine.held());
        machine = factory.load(machine.save());
        machine.feed(3, List.of(keyedChange(-1, 1, "a"), marker(0, 1)), emissions);
        assertEquals(List.of("3/1 window", "3/1 2 [c, x]", "3/1 3 [b, x]"), emissions.lines());
        assertEquals(3, machine.held());
        Machine last = machine;
        assertThrows(IllegalStateException.class, () -> last.feed(4, List.of(keyedChange(-1, 1, "a")), emissions));
        assertThrows(IllegalStateException.class, () -> product("windows", "intervals").load(last.save()));
    }

    @Test
    void manyRetractionsAreFast() {
        Machine machine = product("intervals", "windows").create();
        List<InputRow> insertions = new ArrayList<>();
        List<InputRow> retractions = new ArrayList<>();
        for (long order = 0; order < 100_000; order++) {
            insertions.add(keyedChange(1, order, "a"));
            retractions.add(keyedChange(-1, order, "a"));
        }
        Collections.reverse(retractions);
        machine.feed(1, insertions, emissions);
        machine.feed(2, retractions, emissions);
        assertEquals(0, machine.held());
    }

    @Test
    void changesAreJoined() {
        MachineFactories.MachineFactory factory = pairs();
        Machine machine = factory.create();
        machine.feed(1, List.of(change(0, 2, "b"), change(0, 1, "a"), change(1, 3, 1L)), emissions);
        assertEquals(List.of("1/1 3 [a, 1]", "1/1 6 [b, 1]"), emissions.lines());
        machine = factory.load(machine.save());
        assertEquals(6, machine.held());
        machine.feed(2, List.of(change(0, -1, "b"), change(1, -1, 1L), change(1, 1, 2L), marker(1, 1)), emissions);
        assertEquals(
                List.of("2/1 window", "2/1 -1 [a, 1]", "2/1 1 [a, 2]", "2/1 -4 [b, 1]", "2/1 1 [b, 2]"),
                emissions.lines());
    }

    @Test
    void pairWithinOneTickIsNotEmitted() {
        Machine machine = pairs().create();
        machine.feed(1, List.of(change(0, 1, 7L)), emissions);
        machine.feed(2, List.of(change(0, -1, 7L), change(1, 1, 8L)), emissions);
        assertEquals(List.of(), emissions.lines());
        assertEquals(1, machine.held());
    }
}
