package transom.kernel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static transom.kernel.Told.change;
import static transom.kernel.Told.in;
import static transom.kernel.Told.word;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Machines of two sides. */
final class PairingTest {
    private final Told told = new Told();

    private static Arrival stay(int sign, long order, String value) {
        return new Arrival(0, 1, true, sign, order, Told.row(1L), Told.row(value));
    }

    private static Machines.Maker product(String left, String right) {
        return Machines.of("{\"machine\": \"product\", \"left\": \"" + left + "\", \"right\": \"" + right + "\"}");
    }

    private static Machines.Maker pairs() {
        return Machines.of("{\"machine\": \"join\", \"emit\": \"inner\", \"widths\": [1, 1]}");
    }

    @Test
    void windowsArePairedByKey() {
        Machines.Maker maker = product("windows", "windows");
        Machine machine = maker.fresh();
        machine.feed(1, List.of(in(0, 1, 1L, "a"), in(0, 1, 2L, "b"), word(0, 2)), told);
        assertEquals(List.of(), told.lines());
        machine = maker.load(machine.save());
        machine.feed(2, List.of(in(1, 1, 2.0, "x"), in(1, 1, 2.0, "y"), in(1, 1, null, "z")), told);
        assertEquals(List.of("2/1 window", "2/1 2 [b, x]", "2/1 3 [b, y]", "2/2 window"), told.lines());
        machine.feed(3, List.of(), told);
        assertEquals(List.of(), told.lines());
        assertEquals(5, machine.held());
    }

    @Test
    void staysComeAndGo() {
        Machines.Maker maker = product("stays", "windows");
        Machine machine = maker.fresh();
        Arrival right = in(1, 1, 1L, "x");
        machine.feed(1, List.of(stay(1, 2, "b"), stay(1, 1, "a"), stay(1, 2, "b"), word(0, 1), right), told);
        assertEquals(List.of("1/1 window", "1/1 2 [a, x]", "1/1 3 [b, x]", "1/1 4 [b, x]"), told.lines());
        machine.feed(2, List.of(stay(-1, 2, "b"), stay(1, 0, "c")), told);
        assertEquals(List.of(), told.lines());
        assertEquals(4, machine.held());
        machine = maker.load(machine.save());
        machine.feed(3, List.of(stay(-1, 1, "a"), word(0, 1)), told);
        assertEquals(List.of("3/1 window", "3/1 2 [c, x]", "3/1 3 [b, x]"), told.lines());
        assertEquals(3, machine.held());
        Machine last = machine;
        assertThrows(IllegalStateException.class, () -> last.feed(4, List.of(stay(-1, 1, "a")), told));
        assertThrows(IllegalStateException.class, () -> product("windows", "stays").load(last.save()));
    }

    @Test
    void manyStaysGoQuickly() {
        Machine machine = product("stays", "windows").fresh();
        List<Arrival> comings = new ArrayList<>();
        List<Arrival> goings = new ArrayList<>();
        for (long order = 0; order < 100_000; order++) {
            comings.add(stay(1, order, "a"));
            goings.add(stay(-1, order, "a"));
        }
        Collections.reverse(goings);
        machine.feed(1, comings, told);
        machine.feed(2, goings, told);
        assertEquals(0, machine.held());
    }

    @Test
    void changesMeet() {
        Machines.Maker maker = pairs();
        Machine machine = maker.fresh();
        machine.feed(1, List.of(change(0, 2, "b"), change(0, 1, "a"), change(1, 3, 1L)), told);
        assertEquals(List.of("1/1 3 [a, 1]", "1/1 6 [b, 1]"), told.lines());
        machine = maker.load(machine.save());
        assertEquals(6, machine.held());
        machine.feed(2, List.of(change(0, -1, "b"), change(1, -1, 1L), change(1, 1, 2L), word(1, 1)), told);
        assertEquals(List.of("2/1 window", "2/1 -1 [a, 1]", "2/1 1 [a, 2]", "2/1 -4 [b, 1]", "2/1 1 [b, 2]"), told.lines());
    }

    @Test
    void aPairThatComesAndGoesWithinATickWasNeverThere() {
        Machine machine = pairs().fresh();
        machine.feed(1, List.of(change(0, 1, 7L)), told);
        machine.feed(2, List.of(change(0, -1, 7L), change(1, 1, 8L)), told);
        assertEquals(List.of(), told.lines());
        assertEquals(1, machine.held());
    }
}
