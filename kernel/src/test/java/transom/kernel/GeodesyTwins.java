package transom.kernel;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import transom.kernel.windows.Geodesy;

/**
 * Computes steps and speed limits, for comparison with their Python twins.
 *
 * <p>A line {@code geodesic unit x1 y1 x2 y2}, with hexadecimal coordinates, is answered with the bits of the metres
 * (on the ellipsoid) and the micrometres. A line {@code allows length per step ticks} or {@code placed geodesic x y} is
 * answered with true or false.
 */
public final class GeodesyTwins {
    /** Prevents instantiation: the class only has a main method. */
    private GeodesyTwins() {}

    /** Reads lines from the standard input and writes the answers to the standard output. */
    public static void main(String[] arguments) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        Writer out = new BufferedWriter(new OutputStreamWriter(System.out, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            out.write(answer(line.split(" ")) + "\n");
        }
        out.flush();
    }

    /** The answer to the fields of one input line. */
    private static String answer(String[] fields) {
        if (fields[0].equals("allows")) {
            long limitMicrometres = Long.parseLong(fields[1]);
            long limitTicks = Long.parseLong(fields[2]);
            long step = Long.parseLong(fields[3]);
            long elapsedTicks = Long.parseLong(fields[4]);
            return String.valueOf(Geodesy.isReachable(limitMicrometres, limitTicks, step, elapsedTicks));
        }
        if (fields[0].equals("placed")) {
            double x = Double.parseDouble(fields[2]);
            double y = Double.parseDouble(fields[3]);
            return String.valueOf(Geodesy.isPosition(Boolean.parseBoolean(fields[1]), x, y));
        }
        boolean geodesic = Boolean.parseBoolean(fields[0]);
        double x1 = Double.parseDouble(fields[2]);
        double y1 = Double.parseDouble(fields[3]);
        double x2 = Double.parseDouble(fields[4]);
        double y2 = Double.parseDouble(fields[5]);
        long bits = geodesic ? Double.doubleToRawLongBits(Geodesy.metres(x1, y1, x2, y2)) : 0;
        return bits + " " + Geodesy.step(geodesic, Long.parseLong(fields[1]), x1, y1, x2, y2);
    }
}
