package transom.kernel.machines;

import java.util.List;
import transom.kernel.Emitter;
import transom.kernel.InputRow;
import transom.kernel.Machine;
import transom.kernel.StateVisitor;
import transom.kernel.state.Codec;

/** Numbers the rows of a key in order. The state is the last number. */
public final class RowNumberMachine implements Machine {
    private static final char LETTER = 'O';

    private long count;

    /** Creates a numbering of the rows of a stream, from 1. */
    public RowNumberMachine() {}

    /** Restores the number of the stream's last row from the bytes of `save`. */
    public static RowNumberMachine load(byte[] state) {
        RowNumberMachine machine = new RowNumberMachine();
        machine.count = new Codec.Reader(state, LETTER, "order").number();
        return machine;
    }

    /** Emits to `out` each of `inputs`, the rows of a tick, with its number in the stream, from 1. */
    @Override
    public void feed(long tick, List<InputRow> inputs, Emitter out) {
        for (InputRow input : inputs) {
            out.emit(tick, 1, true, ++count, input.row());
        }
    }

    /** Passes to `visitor`, for inspection, the number of the stream's last row. */
    @Override
    public void visit(StateVisitor visitor) {
        visitor.entry("count", 0, StateVisitor.NO_TICK, count, null);
    }

    /** Encodes the number of the stream's last row for Spark's state store. */
    @Override
    public byte[] save() {
        Codec.Writer writer = new Codec.Writer(LETTER);
        writer.number(count);
        return writer.toBytes();
    }

    /** Always 0: the state is a row number and holds no rows. */
    @Override
    public long held() {
        return 0;
    }
}
