package transom.kernel;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.function.Function;
import java.util.function.Supplier;

/** The machines by their specifications: small JSON documents, read once and not once per key. */
public final class Machines {
    private static final ObjectMapper JSON = new ObjectMapper();

    private Machines() {}

    /** Makes the machines of many keys from one specification. */
    public interface Maker {
        /** A machine that has seen nothing. */
        Machine fresh();

        /**
         * The machine as it was when it was saved.
         *
         * @throws IllegalStateException for the bytes of another machine or version
         */
        Machine load(byte[] state);
    }

    /** Makes the gathering machines of many keys from one specification. */
    public interface Gatherer {
        /** A machine that has seen nothing. */
        Gathering fresh();

        /**
         * The machine as it was when it was saved.
         *
         * @throws IllegalStateException for the bytes of another machine or version
         */
        Gathering load(byte[] state);
    }

    /** Makes the machines of many keys that share a bucket from one specification. */
    public interface TimedMaker {
        /** A machine that has seen nothing. */
        Timed fresh();

        /**
         * The machine as it was when it was saved.
         *
         * @throws IllegalStateException for the bytes of another machine or version
         */
        Timed load(byte[] state);

        /** The last tick of which something is told; Long.MAX_VALUE if there is none. */
        long until();
    }

    /** The machines that take the rows of a tick in order. */
    public static Maker of(String specification) {
        JsonNode entries = read(specification);
        String name = entries.path("machine").asText();
        switch (name) {
            case "order":
                return maker(Order::new, Order::load);
            case "window":
                Window.Cut cut = Window.Cut.of(entries.path("window"));
                return maker(() -> new Window(cut), state -> Window.load(cut, state));
            case "change":
                Change.Report report = Change.Report.of(entries.path("report").asText());
                return maker(() -> new Change(report), state -> Change.load(report, state));
            case "product":
                boolean one = word(entries, "left", "stays", "windows");
                boolean other = word(entries, "right", "stays", "windows");
                String how = entries.path("how").asText("windows");
                Product.Plan both = new Product.Plan(one, other, how, entries.path("widths").path(1).asInt());
                return maker(() -> new Product(both), state -> Product.load(both, state));
            case "join":
                DeltaJoin.Plan join = new DeltaJoin.Plan(numbers(entries.path("widths")), entries.path("emit").asText());
                return maker(() -> new DeltaJoin(join), state -> DeltaJoin.load(join, state));
            case "matches":
                String emit = entries.path("emit").asText();
                int padding = entries.path("padding").asInt();
                return maker(() -> new MatchCounter(emit, padding), state -> MatchCounter.load(emit, padding, state));
            case "groups":
                GroupAggregate.Plan groups = new GroupAggregate.Plan(entries);
                return maker(() -> new GroupAggregate(groups), state -> GroupAggregate.load(groups, state));
            case "paths":
                Paths.Plan paths = new Paths.Plan(
                        entries.path("repeats").asBoolean(), entries.path("start").asText(null));
                return maker(() -> new Paths(paths), state -> Paths.load(paths, state));
            case "pairs":
                return maker(Pairs::new, Pairs::load);
            default:
                throw unknown(name);
        }
    }

    /** Whether a specification is that of a machine which adds rows up as they come. */
    public static boolean gathers(String specification) {
        return read(specification).path("machine").asText().equals("slide");
    }

    /** The machines that add rows up as they come. */
    public static Gatherer gathering(String specification) {
        JsonNode entries = read(specification);
        if (!gathers(specification)) {
            throw unknown(entries.path("machine").asText());
        }
        Slide.Plan plan = Slide.Plan.of(entries);
        return new Gatherer() {
            @Override
            public Gathering fresh() {
                return new Slide(plan);
            }

            @Override
            public Gathering load(byte[] state) {
                return Slide.load(plan, state);
            }
        };
    }

    /** Whether many keys share the state of a machine. */
    public static boolean shared(String specification) {
        return read(specification).path("shared").asBoolean();
    }

    /** The machines of which many share a bucket. */
    public static TimedMaker timed(String specification) {
        JsonNode entries = read(specification);
        String name = entries.path("machine").asText();
        long until = entries.path("until").asLong(Long.MAX_VALUE);
        switch (name) {
            case "distance":
                Odometer.Place place = Odometer.Place.of(entries.path("place"));
                long forget = entries.path("forget_after").asLong(-1);
                return timed(until, () -> new Distance(place, forget), state -> Distance.load(place, forget, state));
            case "lineage":
                LineagePlan plan = new LineagePlan(entries);
                return timed(until, () -> new Lineage(plan), state -> Lineage.load(plan, state));
            default:
                throw unknown(name);
        }
    }

    private static TimedMaker timed(long until, Supplier<Timed> fresh, Function<byte[], Timed> load) {
        return new TimedMaker() {
            @Override
            public Timed fresh() {
                return fresh.get();
            }

            @Override
            public Timed load(byte[] state) {
                return load.apply(state);
            }

            @Override
            public long until() {
                return until;
            }
        };
    }

    private static Maker maker(Supplier<Machine> fresh, Function<byte[], Machine> load) {
        return new Maker() {
            @Override
            public Machine fresh() {
                return fresh.get();
            }

            @Override
            public Machine load(byte[] state) {
                return load.apply(state);
            }
        };
    }

    /** Whether an entry is the first of the two words that it may be. */
    private static boolean word(JsonNode entries, String entry, String one, String other) {
        String found = entries.path(entry).asText();
        if (!found.equals(one) && !found.equals(other)) {
            throw new IllegalArgumentException(entry + " is " + one + " or " + other + ", not '" + found + "'");
        }
        return found.equals(one);
    }

    private static int[] numbers(JsonNode list) {
        int[] found = new int[list.size()];
        for (int at = 0; at < found.length; at++) {
            found[at] = list.path(at).asInt();
        }
        return found;
    }

    private static JsonNode read(String specification) {
        try {
            return JSON.readTree(specification);
        } catch (JsonProcessingException problem) {
            throw new IllegalArgumentException("the specification of a machine is not JSON: " + specification, problem);
        }
    }

    private static IllegalArgumentException unknown(String name) {
        return new IllegalArgumentException("no machine is called " + name);
    }
}
