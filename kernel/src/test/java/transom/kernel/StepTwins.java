package transom.kernel;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;

/**
 * Answers steps and speed limits, so that their Python twins can be compared with them: a line {@code geodesic unit x1
 * y1 x2 y2}, with coordinates in hexadecimal, is answered with the bits of the metres (on the ellipsoid) and the
 * micrometres; a line {@code allows length per step ticks} with true or false; {@code placed geodesic x y} as well.
 */
public final class StepTwins {
    private StepTwins() {}

    /** Answers the lines of the standard input on the standard output. */
    public static void main(String[] arguments) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        Writer out = new BufferedWriter(new OutputStreamWriter(System.out, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            out.write(answer(line.split(" ")) + "\n");
        }
        out.flush();
    }

    private static String answer(String[] words) {
        if (words[0].equals("allows")) {
            long length = Long.parseLong(words[1]);
            long per = Long.parseLong(words[2]);
            return String.valueOf(Geodesy.allows(length, per, Long.parseLong(words[3]), Long.parseLong(words[4])));
        }
        if (words[0].equals("placed")) {
            double x = Double.parseDouble(words[2]);
            return String.valueOf(Geodesy.placed(Boolean.parseBoolean(words[1]), x, Double.parseDouble(words[3])));
        }
        boolean geodesic = Boolean.parseBoolean(words[0]);
        double x1 = Double.parseDouble(words[2]);
        double y1 = Double.parseDouble(words[3]);
        double x2 = Double.parseDouble(words[4]);
        double y2 = Double.parseDouble(words[5]);
        long bits = geodesic ? Double.doubleToRawLongBits(Geodesy.metres(x1, y1, x2, y2)) : 0;
        return bits + " " + Geodesy.step(geodesic, Long.parseLong(words[1]), x1, y1, x2, y2);
    }
}
