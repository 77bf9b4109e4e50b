package transom.kernel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static transom.kernel.Told.comes;
import static transom.kernel.Told.in;
import static transom.kernel.Told.word;

import java.util.List;
import org.junit.jupiter.api.Test;

/** Machines that take streams and windows of one side, by their specifications. */
final class MachinesTest {
    private final Told told = new Told();

    private static Machine again(Machines.Maker maker, Machine machine) {
        return maker.load(machine.save());
    }

    private static Machines.Maker windows(String slide, int step, String range, int low, String tags) {
        return Machines.of(String.format(
                "{\"machine\": \"window\", \"window\": {\"slide\": \"%s\", \"step\": %d, \"first\": %d,"
                        + " \"range\": \"%s\", \"low\": [1, %d], \"high\": [1, 0], \"start\": 0, \"tags\": [%s]}}",
                slide, step, slide.equals("index") ? step : 0, range, low, tags));
    }

    @Test
    void rowsAreNumbered() {
        Machines.Maker maker = Machines.of("{\"machine\": \"order\"}");
        Machine machine = maker.fresh();
        machine.feed(3, List.of(comes("a"), comes("b")), told);
        machine = again(maker, machine);
        machine.feed(4, List.of(), told);
        machine.feed(9, List.of(comes("a")), told);
        assertEquals(List.of("3/1 1 [a]", "3/1 2 [b]", "9/1 3 [a]"), told.lines());
        assertEquals(0, machine.held());
    }

    @Test
    void windowsByRow() {
        Machines.Maker maker = windows("index", 2, "index", -2, "\"index\", \"tick\"");
        Machine machine = maker.fresh();
        machine.feed(5, List.of(comes("a"), comes("b"), comes("c"), comes("d")), told);
        assertEquals(
                List.of("5/1 window", "5/1 1 [a, 1, 5]", "5/1 2 [b, 2, 5]", "5/2 window", "5/2 1 [b, 2, 5]",
                        "5/2 2 [c, 3, 5]", "5/2 3 [d, 4, 5]"),
                told.lines());
        assertEquals(1, machine.held());
        machine = again(maker, machine);
        machine.feed(6, List.of(comes("e")), told);
        assertEquals(List.of(), told.lines());
        machine.feed(7, List.of(comes("f")), told);
        assertEquals(List.of("7/1 window", "7/1 1 [d, 4, 5]", "7/1 2 [e, 5, 6]", "7/1 3 [f, 6, 7]"), told.lines());
    }

    @Test
    void windowsByTickComeWhenTheirTickIsClosed() {
        Machines.Maker maker = windows("tick", 2, "tick", -1, "");
        Window machine = (Window) maker.fresh();
        machine.feed(1, List.of(comes("a")), told);
        assertEquals(List.of("0/1 window"), told.lines());
        machine.feed(3, List.of(comes("b")), told);
        assertEquals(List.of("2/1 window", "2/1 1 [a]"), told.lines());
        assertEquals(1, machine.held());
        machine = (Window) again(maker, machine);
        machine.advance(3, told);
        assertEquals(List.of(), told.lines());
        machine.advance(6, told);
        assertEquals(List.of("4/1 window", "4/1 1 [b]", "6/1 window"), told.lines());
        assertEquals(0, machine.held());
    }

    @Test
    void windowsByArrivalHoldTheLastRows() {
        Machines.Maker maker = windows("arrival", 1, "index", -1, "");
        Window machine = (Window) maker.fresh();
        machine.feed(1, List.of(comes("a"), comes("b"), comes("c")), told);
        machine = (Window) again(maker, machine);
        assertEquals(List.of(), told.lines());
        machine.feed(4, List.of(comes("d")), told);
        assertEquals(List.of("1/1 window", "1/1 1 [b]", "1/1 2 [c]"), told.lines());
        machine.advance(9, told);
        assertEquals(List.of("4/1 window", "4/1 1 [c]", "4/1 2 [d]"), told.lines());
    }

    @Test
    void rowsAreKeptAsTheyComeAndGo() {
        Machine machine = windows("index", 1, "index", -2, "").fresh();
        for (long tick = 0; tick < 1000; tick++) {
            machine.feed(tick, List.of(comes(tick)), told);
        }
        List<String> lines = told.lines();
        assertEquals(List.of("999/1 window", "999/1 1 [997]", "999/1 2 [998]", "999/1 3 [999]"),
                lines.subList(lines.size() - 4, lines.size()));
        assertEquals(2, machine.held());
    }

    @Test
    void whatCame() {
        Machines.Maker maker = Machines.of("{\"machine\": \"change\", \"report\": \"came\"}");
        Machine machine = maker.fresh();
        machine.feed(1, List.of(word(0, 1), in(0, 1, null, "a"), in(0, 1, null, "a"), in(0, 2, null, "b")), told);
        assertEquals(List.of("1/1 1 [a]", "1/1 2 [a]", "1/1 3 [b]"), told.lines());
        machine = again(maker, machine);
        machine.feed(2, List.of(in(0, 1, null, "b"), in(0, 1, null, "c"), in(0, 1, null, "b")), told);
        assertEquals(List.of("2/1 4 [c]", "2/1 5 [b]"), told.lines());
        assertEquals(3, machine.held());
        machine.feed(3, List.of(), told);
        assertEquals(3, machine.held());
    }

    @Test
    void whatWent() {
        Machine machine = Machines.of("{\"machine\": \"change\", \"report\": \"went\"}").fresh();
        machine.feed(1, List.of(in(0, 2, null, "b"), in(0, 1, null, "a")), told);
        assertEquals(List.of("1/1 1 [a]"), told.lines());
        machine.feed(2, List.of(word(0, 1)), told);
        assertEquals(List.of("2/1 2 [b]"), told.lines());
        assertEquals(0, machine.held());
    }

    @Test
    void whatIsNotSpecifiedIsRefused() {
        for (String specification : List.of(
                "{\"machine\": \"wheel\"}",
                "{}",
                "{",
                "{\"machine\": \"change\", \"report\": \"neither\"}",
                "{\"machine\": \"product\", \"left\": \"stays\"}",
                "{\"machine\": \"window\", \"window\": {\"slide\": \"tick\", \"range\": \"distance\"}}",
                "{\"machine\": \"window\", \"window\": {\"slide\": \"once\", \"range\": \"tick\"}}")) {
            assertThrows(IllegalArgumentException.class, () -> Machines.of(specification), specification);
        }
        assertThrows(IllegalArgumentException.class, () -> Machines.gathering("{\"machine\": \"wheel\"}"));
    }
}
