package transom.kernel.machines;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static transom.kernel.RecordedEmissions.streamRow;
import static transom.kernel.RecordedEmissions.windowRow;
import static transom.kernel.RecordedEmissions.marker;

import java.util.List;
import org.junit.jupiter.api.Test;
import transom.kernel.InputRow;
import transom.kernel.Machine;
import transom.kernel.RecordedEmissions;
import transom.kernel.windows.WindowMachine;

/** Machines on streams and windows of one side, created from their specifications. */
final class MachineFactoriesTest {
    private final RecordedEmissions emissions = new RecordedEmissions();

    /** Saves a machine and loads it again. */
    private static Machine reload(MachineFactories.MachineFactory factory, Machine machine) {
        return factory.load(machine.save());
    }

    /** The factory of windows with a slide, a range from `low` to 0, and tags. */
    private static MachineFactories.MachineFactory windows(String slide, int step, String range, int low, String tags) {
        return MachineFactories.of(String.format(
                "{\"machine\": \"window\", \"window\": {\"slide\": \"%s\", \"step\": %d, \"first\": %d,"
                        + " \"range\": \"%s\", \"low\": [1, %d], \"high\": [1, 0], \"start\": 0, \"tags\": [%s]}}",
                slide, step, slide.equals("index") ? step : 0, range, low, tags));
    }

    @Test
    void rowsAreNumbered() {
        MachineFactories.MachineFactory factory = MachineFactories.of("{\"machine\": \"order\"}");
        Machine machine = factory.create();
        machine.feed(3, List.of(streamRow("a"), streamRow("b")), emissions);
        machine = reload(factory, machine);
        machine.feed(4, List.of(), emissions);
        machine.feed(9, List.of(streamRow("a")), emissions);
        assertEquals(List.of("3/1 1 [a]", "3/1 2 [b]", "9/1 3 [a]"), emissions.lines());
        assertEquals(0, machine.held());
    }

    @Test
    void windowsByRow() {
        MachineFactories.MachineFactory factory = windows("index", 2, "index", -2, "\"index\", \"tick\"");
        Machine machine = factory.create();
        machine.feed(5, List.of(streamRow("a"), streamRow("b"), streamRow("c"), streamRow("d")), emissions);
        assertEquals(
                List.of("5/1 window", "5/1 1 [a, 1, 5]", "5/1 2 [b, 2, 5]", "5/2 window", "5/2 1 [b, 2, 5]",
                        "5/2 2 [c, 3, 5]", "5/2 3 [d, 4, 5]"),
                emissions.lines());
        assertEquals(1, machine.held());
        machine = reload(factory, machine);
        machine.feed(6, List.of(streamRow("e")), emissions);
        assertEquals(List.of(), emissions.lines());
        machine.feed(7, List.of(streamRow("f")), emissions);
        assertEquals(List.of("7/1 window", "7/1 1 [d, 4, 5]", "7/1 2 [e, 5, 6]", "7/1 3 [f, 6, 7]"), emissions.lines());
    }

    @Test
    void windowsByTickAreEmittedWhenTheirTickIsClosed() {
        MachineFactories.MachineFactory factory = windows("tick", 2, "tick", -1, "");
        WindowMachine machine = (WindowMachine) factory.create();
        machine.feed(1, List.of(streamRow("a")), emissions);
        assertEquals(List.of("0/1 window"), emissions.lines());
        machine.feed(3, List.of(streamRow("b")), emissions);
        assertEquals(List.of("2/1 window", "2/1 1 [a]"), emissions.lines());
        assertEquals(1, machine.held());
        machine = (WindowMachine) reload(factory, machine);
        machine.advance(3, emissions);
        assertEquals(List.of(), emissions.lines());
        machine.advance(6, emissions);
        assertEquals(List.of("4/1 window", "4/1 1 [b]", "6/1 window"), emissions.lines());
        assertEquals(0, machine.held());
    }

    @Test
    void windowsByArrivalHoldTheLatestRows() {
        MachineFactories.MachineFactory factory = windows("arrival", 1, "index", -1, "");
        WindowMachine machine = (WindowMachine) factory.create();
        machine.feed(1, List.of(streamRow("a"), streamRow("b"), streamRow("c")), emissions);
        machine = (WindowMachine) reload(factory, machine);
        assertEquals(List.of(), emissions.lines());
        machine.feed(4, List.of(streamRow("d")), emissions);
        assertEquals(List.of("1/1 window", "1/1 1 [b]", "1/1 2 [c]"), emissions.lines());
        machine.advance(9, emissions);
        assertEquals(List.of("4/1 window", "4/1 1 [c]", "4/1 2 [d]"), emissions.lines());
    }

    @Test
    void longStreamKeepsOnlyRowsOfTheNextWindow() {
        Machine machine = windows("index", 1, "index", -2, "").create();
        for (long tick = 0; tick < 1000; tick++) {
            machine.feed(tick, List.of(streamRow(tick)), emissions);
        }
        List<String> lines = emissions.lines();
        assertEquals(List.of("999/1 window", "999/1 1 [997]", "999/1 2 [998]", "999/1 3 [999]"),
                lines.subList(lines.size() - 4, lines.size()));
        assertEquals(2, machine.held());
    }

    @Test
    void insertionsAreReported() {
        MachineFactories.MachineFactory factory =
                MachineFactories.of("{\"machine\": \"change\", \"report\": \"inserted\"}");
        Machine machine = factory.create();
        InputRow rowA = windowRow(0, 1, null, "a");
        InputRow rowB = windowRow(0, 1, null, "b");
        machine.feed(1, List.of(marker(0, 1), rowA, rowA, windowRow(0, 2, null, "b")), emissions);
        assertEquals(List.of("1/1 1 [a]", "1/1 2 [a]", "1/1 3 [b]"), emissions.lines());
        machine = reload(factory, machine);
        machine.feed(2, List.of(rowB, windowRow(0, 1, null, "c"), rowB), emissions);
        assertEquals(List.of("2/1 4 [c]", "2/1 5 [b]"), emissions.lines());
        assertEquals(3, machine.held());
        machine.feed(3, List.of(), emissions);
        assertEquals(3, machine.held());
    }

    @Test
    void deletionsAreReported() {
        Machine machine = MachineFactories.of("{\"machine\": \"change\", \"report\": \"deleted\"}").create();
        machine.feed(1, List.of(windowRow(0, 2, null, "b"), windowRow(0, 1, null, "a")), emissions);
        assertEquals(List.of("1/1 1 [a]"), emissions.lines());
        machine.feed(2, List.of(marker(0, 1)), emissions);
        assertEquals(List.of("2/1 2 [b]"), emissions.lines());
        assertEquals(0, machine.held());
    }

    @Test
    void invalidSpecificationsAreRefused() {
        for (String specification : List.of(
                "{\"machine\": \"wheel\"}",
                "{}",
                "{",
                "{\"machine\": \"change\", \"report\": \"neither\"}",
                "{\"machine\": \"product\", \"left\": \"intervals\"}",
                "{\"machine\": \"window\", \"window\": {\"slide\": \"tick\", \"range\": \"distance\"}}",
                "{\"machine\": \"window\", \"window\": {\"slide\": \"once\", \"range\": \"tick\"}}")) {
            assertThrows(IllegalArgumentException.class, () -> MachineFactories.of(specification), specification);
        }
        assertThrows(IllegalArgumentException.class, () -> MachineFactories.accumulators("{\"machine\": \"wheel\"}"));
    }
}
