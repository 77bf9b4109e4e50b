package transom.kernel.windows;

/**
 * Distances between positions in whole micrometres. The code follows {@code transom/model/geometry/space.py} and
 * {@code geodesy.py} line by line and uses only + - * / and square roots, so that both compute the same bits.
 */
public final class Geodesy {
    /** The upper limit of a step in micrometres. */
    public static final long LONGEST_STEP = 1L << 53;

    private static final double A = 6378137.0;
    private static final double F = 1.0 / 298.257223563;
    private static final double B = A * (1.0 - F);
    private static final double PI = 3.141592653589793;
    private static final double DEGREE = PI / 180.0;
    private static final double TOLERANCE = 1e-15;
    private static final int MAX_ITERATIONS = 18;
    private static final int MAX_BISECTIONS = 60;
    private static final double[] SINE =
            reciprocals(355687428096e3, 1307674368e3, 62270208e2, 399168e2, 362880.0, 5040.0, 120.0, 6.0);
    private static final double[] COSINE =
            reciprocals(6402373705728e3, 20922789888e3, 871782912e2, 4790016e2, 3628800.0, 40320.0, 720.0, 24.0, 2.0);
    private static final double[] ARC = reciprocals(25.0, 23.0, 21.0, 19.0, 17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0);

    /** Prevents instantiation: all methods are static. */
    private Geodesy() {}

    /**
     * Whether two coordinates are a valid position: both finite and, if `geodesic`, a longitude and a latitude. A
     * longitude is within 360 degrees, a latitude within 90.
     */
    public static boolean isPosition(boolean geodesic, double x, double y) {
        if (Double.isNaN(x) || Double.isInfinite(x) || Double.isNaN(y) || Double.isInfinite(y)) {
            return false;
        }
        return !geodesic || (Math.abs(x) <= 360.0 && Math.abs(y) <= 90.0);
    }

    /**
     * Computes the distance between two positions in whole micrometres: on the earth's ellipsoid, in degrees, if
     * `geodesic`, else on a plane. It is rounded half to even. The unit of the plane is `micrometresPerUnit`.
     */
    public static long step(boolean geodesic, long micrometresPerUnit, double x1, double y1, double x2, double y2) {
        if (geodesic) {
            return (long) Math.rint(metres(x1, y1, x2, y2) * 1e6);
        }
        double dx = x2 - x1;
        double dy = y2 - y1;
        double length = Math.sqrt(dx * dx + dy * dy) * micrometresPerUnit;
        return length < LONGEST_STEP ? (long) Math.rint(length) : LONGEST_STEP;
    }

    /**
     * Whether an object can move `step` micrometres in `elapsedTicks` (0 counts as 1) under a speed limit of
     * `limitMicrometres` per `limitTicks`.
     */
    public static boolean isReachable(long limitMicrometres, long limitTicks, long step, long elapsedTicks) {
        long countedTicks = Math.max(elapsedTicks, 1);
        long stepHigh = Math.multiplyHigh(step, limitTicks);
        long limitHigh = Math.multiplyHigh(limitMicrometres, countedTicks);
        if (stepHigh != limitHigh) {
            return stepHigh < limitHigh;
        }
        return Long.compareUnsigned(step * limitTicks, limitMicrometres * countedTicks) <= 0;
    }

    /**
     * Computes the shortest distance in metres between two positions on the earth's ellipsoid, in degrees, by
     * Vincenty's formula.
     */
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
        double[] reduced1 = reduced(lat1);
        double[] reduced2 = reduced(lat2);
        double su1 = reduced1[0];
        double cu1 = reduced1[1];
        double su2 = reduced2[0];
        double cu2 = reduced2[1];
        double[] turn = sineCosine(longitude);
        double sl = turn[0];
        double cl = turn[1];
        double correction = 0.0;
        for (int iteration = 0; iteration < MAX_ITERATIONS; iteration++) {
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
            if (-TOLERANCE <= change && change <= TOLERANCE) {
                if (longitude * DEGREE + correction > PI) {
                    break;
                }
                return length(cos2A, sigma, sinS, cosS, cosM);
            }
        }
        return antipodal(longitude * DEGREE, su1, cu1, su2, cu2);
    }

    /**
     * Returns sine and cosine, in this order, of an angle in degrees of at most 180. They are polynomials up to 45
     * degrees, and quarter turns beyond.
     */
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

    /** Returns the angle from 0 to pi, in radians, whose sine and cosine are proportional to the arguments. */
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
        double angle = 8.0 * (t - t * q * alternating(ARC, q));
        return cosine < 0.0 ? PI - angle : angle;
    }

    /**
     * Evaluates the polynomial c1 - q * c2 + q^2 * c3 and so on, with alternating signs, at `q`. `coefficients` has c1
     * last.
     */
    private static double alternating(double[] coefficients, double q) {
        double total = coefficients[0];
        for (int i = 1; i < coefficients.length; i++) {
            total = coefficients[i] - q * total;
        }
        return total;
    }

    /** Returns the reciprocals of numbers, as coefficients of the series of sine, cosine and arc tangent. */
    private static double[] reciprocals(double... numbers) {
        double[] reciprocals = new double[numbers.length];
        for (int i = 0; i < numbers.length; i++) {
            reciprocals[i] = 1.0 / numbers[i];
        }
        return reciprocals;
    }

    /**
     * Returns sine and cosine, in this order, of the reduced latitude of a latitude in degrees, for Vincenty's formula.
     * Its tangent is that of the latitude times 1 minus the earth's flattening.
     */
    private static double[] reduced(double latitude) {
        double[] turn = sineCosine(latitude);
        double sine = turn[0] * (1.0 - F);
        double cosine = turn[1] < 0.0 ? 0.0 : turn[1];
        double norm = Math.sqrt(sine * sine + cosine * cosine);
        return new double[] {sine / norm, cosine / norm};
    }

    /**
     * Computes how much smaller a difference of longitudes is on the ellipsoid than on Vincenty's auxiliary sphere, in
     * radians. The azimuth is that at the equator, and the middle is that of the arc, as an angle from the equator.
     */
    private static double lag(
            double sinAzimuth,
            double squareCosAzimuth,
            double arc,
            double sinArc,
            double cosArc,
            double cosTwiceMiddle) {
        double c = F / 16.0 * squareCosAzimuth * (4.0 + F * (4.0 - 3.0 * squareCosAzimuth));
        double square = 2.0 * cosTwiceMiddle * cosTwiceMiddle - 1.0;
        return (1.0 - c) * F * sinAzimuth * (arc + c * sinArc * (cosTwiceMiddle + c * cosArc * square));
    }

    /**
     * Computes the length in metres, on the earth's ellipsoid, of an arc of Vincenty's auxiliary sphere. The azimuth is
     * that at the equator, and the middle is that of the arc, as an angle from the equator.
     */
    private static double length(
            double squareCosAzimuth, double arc, double sinArc, double cosArc, double cosTwiceMiddle) {
        double u = squareCosAzimuth * (A * A - B * B) / (B * B);
        double a = 1.0 + u / 16384.0 * (4096.0 + u * (-768.0 + u * (320.0 - 175.0 * u)));
        double b = u / 1024.0 * (256.0 + u * (-128.0 + u * (74.0 - 47.0 * u)));
        double square = 2.0 * cosTwiceMiddle * cosTwiceMiddle - 1.0;
        double third = b
                / 6.0
                * cosTwiceMiddle
                * (4.0 * sinArc * sinArc - 3.0)
                * (4.0 * cosTwiceMiddle * cosTwiceMiddle - 3.0);
        return B * a * (arc - b * sinArc * (cosTwiceMiddle + b / 4.0 * (cosArc * square - third)));
    }

    /**
     * Computes the shortest distance in metres between two nearly antipodal points, where Vincenty's iteration fails.
     * It bisects the azimuth; `longitude` is the difference in radians, and the latitudes are the reduced ones.
     */
    private static double antipodal(
            double longitude, double sinLatitude1, double cosLatitude1, double sinLatitude2, double cosLatitude2) {
        boolean exchanged = sinLatitude1 * sinLatitude1 < sinLatitude2 * sinLatitude2;
        double su1 = exchanged ? sinLatitude2 : sinLatitude1;
        double cu1 = exchanged ? cosLatitude2 : cosLatitude1;
        double su2 = exchanged ? sinLatitude1 : sinLatitude2;
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
        for (int bisection = 0; bisection < MAX_BISECTIONS; bisection++) {
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

    /**
     * Returns sine and cosine, in this order, of the direction of the vector (`x`, `y`). The zero vector gives 0 and 1.
     */
    private static double[] unit(double y, double x) {
        double norm = Math.sqrt(x * x + y * y);
        return norm > 0.0 ? new double[] {y / norm, x / norm} : new double[] {0.0, 1.0};
    }

    /**
     * Returns the sine of the angle from a first to a second direction, each passed as sine and cosine. It is 0 if
     * rounding makes it negative.
     */
    private static double between(double sin1, double cos1, double sin2, double cos2) {
        double sine = sin2 * cos1 - cos2 * sin1;
        return sine > 0.0 ? sine : 0.0;
    }
}
