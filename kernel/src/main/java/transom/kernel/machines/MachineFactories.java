package transom.kernel.machines;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;
import transom.kernel.Accumulator;
import transom.kernel.Machine;
import transom.kernel.TimedMachine;
import transom.kernel.aggregates.GroupAggregate;
import transom.kernel.windows.DistanceMachine;
import transom.kernel.windows.KeyedWindowMachine;
import transom.kernel.windows.KeyedWindowSpec;
import transom.kernel.windows.Odometer;
import transom.kernel.windows.SlidingWindowMachine;
import transom.kernel.windows.SlidingWindowSpec;
import transom.kernel.windows.WindowChangesMachine;
import transom.kernel.windows.WindowMachine;

/** Creates machines from JSON specifications. A factory parses its specification once, not once per key. */
public final class MachineFactories {
    private static final ObjectMapper JSON = new ObjectMapper();

    /** Prevents instantiation: all methods are static. */
    private MachineFactories() {}

    /** Creates the machines of many keys from one specification. */
    public interface MachineFactory {
        /** Creates the state machine of a new key, with empty state. */
        Machine create();

        /**
         * Restores the state machine of a key from the bytes that its `save` returned.
         *
         * @throws IllegalStateException for the state of a different machine or version
         */
        Machine load(byte[] state);
    }

    /** Creates the accumulators of many keys from one specification. */
    public interface AccumulatorFactory {
        /** Creates the sliding-window aggregates of a new key, without rows. */
        Accumulator create();

        /**
         * Restores the sliding-window aggregates of a key from the bytes that their `save` returned.
         *
         * @throws IllegalStateException for the state of a different machine or version
         */
        Accumulator load(byte[] state);
    }

    /** Creates the machines of many keys that share a bucket from one specification. */
    public interface TimedMachineFactory {
        /** Creates the state machine of a new key in a bucket, with empty state. */
        TimedMachine create();

        /**
         * Restores the state machine of one key in a bucket from the bytes that its `save` returned.
         *
         * @throws IllegalStateException for the state of a different machine or version
         */
        TimedMachine load(byte[] state);

        /**
         * The last tick for which the query has output, at which a replay ends; Long.MAX_VALUE if the query has no end.
         */
        long until();
    }

    /**
     * Parses the JSON specification of a state machine that has one state per key, and returns its factory. Throws
     * IllegalArgumentException if its name is unknown.
     */
    public static MachineFactory of(String specification) {
        JsonNode entries = parse(specification);
        String name = entries.path("machine").asText();
        switch (name) {
            case "order":
                return factory(RowNumberMachine::new, RowNumberMachine::load);
            case "window":
                WindowMachine.Spec spec = WindowMachine.Spec.of(entries.path("window"));
                return factory(() -> new WindowMachine(spec), state -> WindowMachine.load(spec, state));
            case "change":
                WindowChangesMachine.Report report = WindowChangesMachine.Report.of(entries.path("report").asText());
                return factory(
                        () -> new WindowChangesMachine(report), state -> WindowChangesMachine.load(report, state));
            case "product":
                boolean leftIsChanges = isFirstOption(entries, "left", "intervals", "windows");
                boolean rightIsChanges = isFirstOption(entries, "right", "intervals", "windows");
                String output = entries.path("how").asText("windows");
                int rightWidth = entries.path("widths").path(1).asInt();
                ProductMachine.Spec product =
                        new ProductMachine.Spec(leftIsChanges, rightIsChanges, output, rightWidth);
                return factory(() -> new ProductMachine(product), state -> ProductMachine.load(product, state));
            case "join":
                int[] widths = numbers(entries.path("widths"));
                DeltaJoin.Spec join = new DeltaJoin.Spec(widths, entries.path("emit").asText());
                return factory(() -> new DeltaJoin(join), state -> DeltaJoin.load(join, state));
            case "join tree":
                JoinTree.Spec tree = joinTree(entries);
                return factory(() -> new JoinTree(tree), state -> JoinTree.load(tree, state));
            case "matches":
                String emit = entries.path("emit").asText();
                int padding = entries.path("padding").asInt();
                return factory(() -> new MatchCounter(emit, padding), state -> MatchCounter.load(emit, padding, state));
            case "groups":
                GroupAggregate.Spec groups = new GroupAggregate.Spec(entries);
                return factory(() -> new GroupAggregate(groups), state -> GroupAggregate.load(groups, state));
            case "paths":
                PathClosureMachine.Spec paths = new PathClosureMachine.Spec(
                        entries.path("repeats").asBoolean(), entries.path("start").asText(null));
                return factory(() -> new PathClosureMachine(paths), state -> PathClosureMachine.load(paths, state));
            case "pairs":
                return factory(IntervalJoinMachine::new, IntervalJoinMachine::load);
            default:
                throw unknownMachine(name);
        }
    }

    /** Whether a JSON specification is one of sliding-window aggregates (`slide`), which take rows in any order. */
    public static boolean isAccumulator(String specification) {
        return parse(specification).path("machine").asText().equals("slide");
    }

    /**
     * Parses the JSON specification of sliding-window aggregates and returns the factory that creates them for each
     * group.
     */
    public static AccumulatorFactory accumulators(String specification) {
        JsonNode entries = parse(specification);
        if (!isAccumulator(specification)) {
            throw unknownMachine(entries.path("machine").asText());
        }
        SlidingWindowSpec spec = new SlidingWindowSpec(entries);
        return new AccumulatorFactory() {
            /** Creates the sliding windows of a group without rows, for the factory that `accumulators` returns. */
            @Override
            public Accumulator create() {
                return new SlidingWindowMachine(spec);
            }

            /**
             * Restores the sliding windows of a group from saved state, for the factory that `accumulators` returns.
             */
            @Override
            public Accumulator load(byte[] state) {
                return SlidingWindowMachine.load(spec, state);
            }
        };
    }

    /** Whether a JSON specification says `"shared": true`, so that many keys share one bucket of state. */
    public static boolean isShared(String specification) {
        return parse(specification).path("shared").asBoolean();
    }

    /** Parses the JSON specification of a state machine whose keys share buckets of state, and returns its factory. */
    public static TimedMachineFactory timed(String specification) {
        JsonNode entries = parse(specification);
        String name = entries.path("machine").asText();
        long until = entries.path("until").asLong(Long.MAX_VALUE);
        switch (name) {
            case "distance":
                Odometer.PositionSpec position = Odometer.PositionSpec.of(entries.path("place"));
                long forgetAfter = entries.path("forget_after").asLong(-1);
                return timed(
                        until,
                        () -> new DistanceMachine(position, forgetAfter),
                        state -> DistanceMachine.load(position, forgetAfter, state));
            case "lineage":
                KeyedWindowSpec spec = new KeyedWindowSpec(entries);
                return timed(until, () -> new KeyedWindowMachine(spec), state -> KeyedWindowMachine.load(spec, state));
            default:
                throw unknownMachine(name);
        }
    }

    /**
     * Builds a factory that calls `create` for a new key of a bucket and `load` for saved bytes; `until` is the last
     * tick with output.
     */
    private static TimedMachineFactory timed(
            long until, Supplier<TimedMachine> create, Function<byte[], TimedMachine> load) {
        return new TimedMachineFactory() {
            /** Creates the state machine of a new key in a bucket, for the factory that `timed` returns. */
            @Override
            public TimedMachine create() {
                return create.get();
            }

            /**
             * Restores the state machine of a key in a bucket from saved state, for the factory that `timed` returns.
             */
            @Override
            public TimedMachine load(byte[] state) {
                return load.apply(state);
            }

            /**
             * The last tick for which the query has output, at which a replay ends; Long.MAX_VALUE if the query has no
             * end.
             */
            @Override
            public long until() {
                return until;
            }
        };
    }

    /** Builds a factory of state machines that calls `create` for a new key and `load` for saved bytes. */
    private static MachineFactory factory(Supplier<Machine> create, Function<byte[], Machine> load) {
        return new MachineFactory() {
            /** Creates the state machine of a new key, for the factory that the method `factory` returns. */
            @Override
            public Machine create() {
                return create.get();
            }

            /**
             * Restores the state machine of a key from saved state, for the factory that the method `factory` returns.
             */
            @Override
            public Machine load(byte[] state) {
                return load.apply(state);
            }
        };
    }

    /**
     * Returns true if the entry `key` of a JSON object is `firstOption`, false if it is `secondOption`. Throws
     * IllegalArgumentException if it is neither.
     */
    private static boolean isFirstOption(JsonNode entries, String key, String firstOption, String secondOption) {
        String option = entries.path(key).asText();
        if (!option.equals(firstOption) && !option.equals(secondOption)) {
            throw new IllegalArgumentException(
                    key + " is " + firstOption + " or " + secondOption + ", not '" + option + "'");
        }
        return option.equals(firstOption);
    }

    /** Parses the joins of a join tree from its JSON specification. */
    private static JoinTree.Spec joinTree(JsonNode entries) {
        List<JoinTree.Step> steps = new ArrayList<>();
        for (JsonNode step : entries.path("joins")) {
            DeltaJoin.Spec join = new DeltaJoin.Spec(
                    numbers(step.path("widths")), step.path("emit").asText());
            steps.add(new JoinTree.Step(join, numbers(step.path("inputs")), numbers(step.path("columns"))));
        }
        return new JoinTree.Spec(entries.path("sides").asInt(), steps);
    }

    /** Converts a JSON list of integers to an array. */
    private static int[] numbers(JsonNode list) {
        int[] numbers = new int[list.size()];
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = list.path(i).asInt();
        }
        return numbers;
    }

    /** Parses the JSON specification of a state machine; throws IllegalArgumentException if it is not JSON. */
    private static JsonNode parse(String specification) {
        try {
            return JSON.readTree(specification);
        } catch (JsonProcessingException error) {
            throw new IllegalArgumentException("the specification of a machine is not JSON: " + specification, error);
        }
    }

    /** Creates, without throwing it, the exception for a specification that names an unknown state machine. */
    private static IllegalArgumentException unknownMachine(String name) {
        return new IllegalArgumentException("no machine is called " + name);
    }
}
