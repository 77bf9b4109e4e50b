package peers;

import com.espertech.esper.common.client.EventBean;
import com.espertech.esper.common.client.configuration.Configuration;
import com.espertech.esper.compiler.client.CompilerArguments;
import com.espertech.esper.compiler.client.EPCompilerProvider;
import com.espertech.esper.runtime.client.EPEventService;
import com.espertech.esper.runtime.client.EPRuntime;
import com.espertech.esper.runtime.client.EPRuntimeProvider;
import com.espertech.esper.runtime.client.EPStatement;
import java.io.BufferedInputStream;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/**
 * Esper as a peer: a time window by the time of the events, one row per key and second. It keeps nothing that would
 * survive the process.
 *
 * <p>Its clock counts microseconds, and a window is half a millisecond longer than 60 s. Times are whole milliseconds, so
 * it holds what a window of 60 s holds that is closed at its beginning and open at its end: at the end of a second the
 * event of 60 s ago is still there, and that of now has not come.
 */
public final class OnEsper {
    private static final int WIDTH = 60;
    private static final long SECOND = 1_000_000;
    private static final String QUERY =
            "select k, sum(v) as total, count(*) as n, avg(v) as mean, max(v) as top"
                    + " from Event#time(" + WIDTH + " sec 500 microseconds) group by k having count(*) > 0 output all every 1 sec";

    private final Path events;
    private int runs;
    private long seen;

    private OnEsper(Path events) {
        this.events = events;
    }

    /** What an event is given to, in order. */
    private interface Taker {
        void take(long ts, long k, long v);
    }

    public static void main(String[] arguments) throws Exception {
        OnEsper peer = new OnEsper(Path.of(arguments[0], "events.csv"));
        BufferedReader asked = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = asked.readLine(); line != null; line = asked.readLine()) {
            try {
                System.out.println("peer: done" + peer.serve(line.strip()));
            } catch (Exception error) {
                System.out.println("peer: failed " + error);
            }
            System.out.flush();
        }
    }

    private String serve(String line) throws Exception {
        if (line.equals("about")) {
            Path jar = Path.of(EPRuntime.class.getProtectionDomain().getCodeSource().getLocation().toURI());
            return " Esper " + jar.getFileName().toString().replaceAll("[^0-9.]+|[.]jar", "");
        } else if (line.equals("run")) {
            run(null);
        } else if (line.equals("read")) {
            read((ts, k, v) -> seen += ts + k + v);
        } else if (line.startsWith("answer ")) {
            Path folder = Path.of(line.substring("answer ".length()));
            Files.createDirectories(folder);
            try (PrintWriter out = new PrintWriter(Files.newBufferedWriter(folder.resolve("answer.csv")))) {
                run(out);
            }
        } else {
            throw new IllegalArgumentException(line);
        }
        return "";
    }

    /** All events through a new runtime. */
    private void run(PrintWriter out) throws Exception {
        Configuration configuration = new Configuration();
        configuration.getCommon().addEventType(Event.class);
        configuration.getCommon().getTimeSource().setTimeUnit(TimeUnit.MICROSECONDS);
        configuration.getRuntime().getThreading().setInternalTimerEnabled(false);
        EPRuntime runtime = EPRuntimeProvider.getRuntime("run" + runs++, configuration);
        EPEventService service = runtime.getEventService();
        long[] next = {-1};
        read((ts, k, v) -> {
            if (next[0] < 0) {
                next[0] = ts / 1000 * SECOND;
                begin(runtime, configuration, next[0], out);
            }
            long at = ts * 1000;
            for (; next[0] <= at; next[0] += SECOND) {
                service.advanceTime(next[0]);
            }
            service.advanceTime(at);
            service.sendEventBean(new Event(k, v), "Event");
        });
        for (int more = 0; more < WIDTH; more++) {
            service.advanceTime(next[0] + more * SECOND);
        }
        runtime.destroy();
    }

    /** Start the query at an instant. */
    private void begin(EPRuntime runtime, Configuration configuration, long at, PrintWriter out) {
        runtime.getEventService().advanceTime(at);
        EPStatement statement;
        try {
            CompilerArguments arguments = new CompilerArguments(configuration);
            var compiled = EPCompilerProvider.getCompiler().compile(QUERY, arguments);
            statement = runtime.getDeploymentService().deploy(compiled).getStatements()[0];
        } catch (Exception error) {
            throw new IllegalStateException(error);
        }
        statement.addListener((rows, gone, which, from) -> {
            if (rows == null) {
                return;
            }
            long tick = from.getEventService().getCurrentTime() / 1000;
            for (EventBean row : rows) {
                Object k = row.get("k");
                Object total = row.get("total");
                Object n = row.get("n");
                Object mean = row.get("mean");
                Object top = row.get("top");
                if (out != null) {
                    out.println(tick + "," + k + "," + total + "," + n + "," + mean + "," + top);
                }
                seen++;
            }
        });
    }

    /** The lines of the file: whole numbers between commas. */
    private void read(Taker taker) throws IOException {
        byte[] buffer = new byte[1 << 16];
        long[] values = new long[3];
        int column = 0;
        long value = 0;
        boolean minus = false;
        try (InputStream in = new BufferedInputStream(Files.newInputStream(events), 1 << 16)) {
            for (int size = in.read(buffer); size >= 0; size = in.read(buffer)) {
                for (int place = 0; place < size; place++) {
                    byte sign = buffer[place];
                    if (sign >= '0' && sign <= '9') {
                        value = value * 10 + sign - '0';
                    } else if (sign == '-') {
                        minus = true;
                    } else if (sign == ',' || sign == '\n') {
                        values[column++] = minus ? -value : value;
                        value = 0;
                        minus = false;
                        if (sign == '\n') {
                            taker.take(values[0], values[1], values[2]);
                            column = 0;
                        }
                    }
                }
            }
        }
    }
}
