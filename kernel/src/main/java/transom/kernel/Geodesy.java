package transom.kernel;

/**
 * Steps between places in whole micrometres, as {@code transom/model/space.py} and {@code geodesy.py} have them, line by
 * line: only + - * / and square roots, so that both give the same bits.
 */
public final class Geodesy {
    /** A step counts as at most so many micrometres. */
    public static final long LONGEST_STEP = 1L << 53;

    private static final double A = 6378137.0;
    private static final double F = 1.0 / 298.257223563;
    private static final double B = A * (1.0 - F);
    private static final double PI = 3.141592653589793;
    private static final double DEGREE = PI / 180.0;
    private static final double CLOSE = 1e-15;
    private static final int ROUNDS = 18;
    private static final int HALVINGS = 60;
    private static final double[] SINE =
            over(355687428096e3, 1307674368e3, 62270208e2, 399168e2, 362880.0, 5040.0, 120.0, 6.0);
    private static final double[] COSINE =
            over(6402373705728e3, 20922789888e3, 871782912e2, 4790016e2, 3628800.0, 40320.0, 720.0, 24.0, 2.0);
    private static final double[] ARC = over(25.0, 23.0, 21.0, 19.0, 17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0);

    private Geodesy() {}

    /** Whether two coordinates are a place: finite, and on the ellipsoid a longitude and a latitude. */
    public static boolean placed(boolean geodesic, double x, double y) {
        if (Double.isNaN(x) || Double.isInfinite(x) || Double.isNaN(y) || Double.isInfinite(y)) {
            return false;
        }
        return !geodesic || (Math.abs(x) <= 360.0 && Math.abs(y) <= 90.0);
    }

    /** How far it is from one place to another, in whole micrometres, halves to even. */
    public static long step(boolean geodesic, long unit, double x1, double y1, double x2, double y2) {
        if (geodesic) {
            return (long) Math.rint(metres(x1, y1, x2, y2) * 1e6);
        }
        double dx = x2 - x1;
        double dy = y2 - y1;
        double length = Math.sqrt(dx * dx + dy * dy) * unit;
        return length < LONGEST_STEP ? (long) Math.rint(length) : LONGEST_STEP;
    }

    /** Whether an object that makes at most {@code length} micrometres in {@code per} ticks can have gone a step. */
    public static boolean allows(long length, long per, long step, long ticks) {
        long within = Math.max(ticks, 1);
        long high = Math.multiplyHigh(step, per);
        long most = Math.multiplyHigh(length, within);
        return high != most ? high < most : Long.compareUnsigned(step * per, length * within) <= 0;
    }

    /** The length in metres of the shortest way between two places on the ellipsoid, given in degrees. */
    public static double metres(double lon1, double lat1, double lon2, double lat2) {
        double longitude = lon2 - lon1;
        while (longitude > 180.0) {
            longitude -= 360.0;
        }
        while (longitude < -180.0) {
            longitude += 360.0;
        }
        if (longitude < 0.0) {
            longitude = -longitude;
        }
        double[] one = reduced(lat1);
        double[] two = reduced(lat2);
        double su1 = one[0];
        double cu1 = one[1];
        double su2 = two[0];
        double cu2 = two[1];
        double[] turn = sineCosine(longitude);
        double sl = turn[0];
        double cl = turn[1];
        double correction = 0.0;
        for (int round = 0; round < ROUNDS; round++) {
            double q = correction * correction;
            double sd = correction - correction * q * (1.0 / 6.0 - q / 120.0);
            double cd = 1.0 - q * (0.5 - q * (1.0 / 24.0 - q / 720.0));
            double sinL = sl * cd + cl * sd;
            double cosL = cl * cd - sl * sd;
            double across = cu2 * sinL;
            double along = cu1 * su2 - su1 * cu2 * cosL;
            double sinS = Math.sqrt(across * across + along * along);
            double cosS = su1 * su2 + cu1 * cu2 * cosL;
            if (sinS == 0.0 && cosS > 0.0) {
                return 0.0;
            }
            double sigma = angle(sinS, cosS);
            double sinA = sinS > 0.0 ? cu1 * cu2 * sinL / sinS : 0.0;
            double cos2A = 1.0 - sinA * sinA;
            double cosM = cos2A > 0.0 ? cosS - 2.0 * su1 * su2 / cos2A : 0.0;
            double after = lag(sinA, cos2A, sigma, sinS, cosS, cosM);
            double change = after - correction;
            correction = after;
            if (-CLOSE <= change && change <= CLOSE) {
                if (longitude * DEGREE + correction > PI) {
                    break;
                }
                return length(cos2A, sigma, sinS, cosS, cosM);
            }
        }
        return antipodal(longitude * DEGREE, su1, cu1, su2, cu2);
    }

    private static double[] sineCosine(double degrees) {
        int turns = 0;
        while (degrees > 45.0) {
            degrees -= 90.0;
            turns++;
        }
        while (degrees < -45.0) {
            degrees += 90.0;
            turns--;
        }
        double x = degrees * DEGREE;
        double q = x * x;
        double sine = x - x * q * alternating(SINE, q);
        double cosine = 1.0 - q * alternating(COSINE, q);
        switch (turns) {
            case 0:
                return new double[] {sine, cosine};
            case 1:
                return new double[] {cosine, -sine};
            case -1:
                return new double[] {-cosine, sine};
            default:
                return new double[] {-sine, -cosine};
        }
    }

    private static double angle(double sine, double cosine) {
        double x = cosine < 0.0 ? -cosine : cosine;
        double y = sine;
        x += Math.sqrt(x * x + y * y);
        x += Math.sqrt(x * x + y * y);
        x += Math.sqrt(x * x + y * y);
        if (x == 0.0) {
            return 0.0;
        }
        double t = y / x;
        double q = t * t;
        double found = 8.0 * (t - t * q * alternating(ARC, q));
        return cosine < 0.0 ? PI - found : found;
    }

    private static double alternating(double[] coefficients, double q) {
        double total = coefficients[0];
        for (int place = 1; place < coefficients.length; place++) {
            total = coefficients[place] - q * total;
        }
        return total;
    }

    private static double[] over(double... numbers) {
        double[] found = new double[numbers.length];
        for (int place = 0; place < numbers.length; place++) {
            found[place] = 1.0 / numbers[place];
        }
        return found;
    }

    private static double[] reduced(double latitude) {
        double[] turn = sineCosine(latitude);
        double sine = turn[0] * (1.0 - F);
        double cosine = turn[1] < 0.0 ? 0.0 : turn[1];
        double norm = Math.sqrt(sine * sine + cosine * cosine);
        return new double[] {sine / norm, cosine / norm};
    }

    private static double lag(double sinA, double cos2A, double sigma, double sinS, double cosS, double cosM) {
        double c = F / 16.0 * cos2A * (4.0 + F * (4.0 - 3.0 * cos2A));
        return (1.0 - c) * F * sinA * (sigma + c * sinS * (cosM + c * cosS * (2.0 * cosM * cosM - 1.0)));
    }

    private static double length(double cos2A, double sigma, double sinS, double cosS, double cosM) {
        double u = cos2A * (A * A - B * B) / (B * B);
        double a = 1.0 + u / 16384.0 * (4096.0 + u * (-768.0 + u * (320.0 - 175.0 * u)));
        double b = u / 1024.0 * (256.0 + u * (-128.0 + u * (74.0 - 47.0 * u)));
        double square = 2.0 * cosM * cosM - 1.0;
        double third = b / 6.0 * cosM * (4.0 * sinS * sinS - 3.0) * (4.0 * cosM * cosM - 3.0);
        return B * a * (sigma - b * sinS * (cosM + b / 4.0 * (cosS * square - third)));
    }

    private static double antipodal(double longitude, double s1, double c1, double s2, double c2) {
        boolean swap = s1 * s1 < s2 * s2;
        double su1 = swap ? s2 : s1;
        double cu1 = swap ? c2 : c1;
        double su2 = swap ? s1 : s2;
        if (su1 > 0.0) {
            su1 = -su1;
            su2 = -su2;
        }
        double lowS = 0.0;
        double lowC = 1.0;
        double highS = 0.0;
        double highC = -1.0;
        double sin1 = 1.0;
        double cos1 = 0.0;
        double length = 0.0;
        for (int halving = 0; halving < HALVINGS; halving++) {
            double sinA = sin1 * cu1;
            double cos2A = cos1 * cos1 + sin1 * sin1 * su1 * su1;
            double ahead = cos1 * cu1;
            double left = ahead * ahead + (su1 * su1 - su2 * su2);
            double[] start = unit(su1, ahead);
            double[] end = unit(su2, left > 0.0 ? Math.sqrt(left) : 0.0);
            double sinS = between(start[0], start[1], end[0], end[1]);
            double cosS = start[1] * end[1] + start[0] * end[0];
            double sigma = angle(sinS, cosS);
            double cosM = start[1] * end[1] - start[0] * end[0];
            double w1 = sinA * start[0];
            double w2 = sinA * end[0];
            double sinW = between(w1, start[1], w2, end[1]);
            double cosW = start[1] * end[1] + w1 * w2;
            double gone = angle(sinW, cosW) - lag(sinA, cos2A, sigma, sinS, cosS, cosM);
            length = length(cos2A, sigma, sinS, cosS, cosM);
            if (gone < longitude) {
                lowS = sin1;
                lowC = cos1;
            } else {
                highS = sin1;
                highC = cos1;
            }
            double[] middle = unit(lowS + highS, lowC + highC);
            sin1 = middle[0];
            cos1 = middle[1];
        }
        return length;
    }

    private static double[] unit(double y, double x) {
        double norm = Math.sqrt(x * x + y * y);
        return norm > 0.0 ? new double[] {y / norm, x / norm} : new double[] {0.0, 1.0};
    }

    private static double between(double sin1, double cos1, double sin2, double cos2) {
        double sine = sin2 * cos1 - cos2 * sin1;
        return sine > 0.0 ? sine : 0.0;
    }
}
