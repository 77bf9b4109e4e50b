"""Geodesics on the ellipsoid WGS 84, computed with + - * / and square roots alone (E9).

Every implementation gives the same bits: fixed polynomials after exact reductions replace the trigonometry of a
library, whose last digits differ from one to the next. `Geodesy.java` computes lengths line by line as here; azimuths
are computed only here. docs/space.md has the formulas and their error.
"""

from __future__ import annotations

from math import sqrt

A = 6378137.0
F = 1.0 / 298.257223563
B = A * (1.0 - F)
PI = 3.141592653589793
DEGREE = PI / 180.0

_SINE = tuple(1.0 / n for n in (355687428096e3, 1307674368e3, 62270208e2, 399168e2, 362880.0, 5040.0, 120.0, 6.0))
_COSINE = tuple(
    1.0 / n for n in (6402373705728e3, 20922789888e3, 871782912e2, 4790016e2, 3628800.0, 40320.0, 720.0, 24.0, 2.0)
)
_ARC = tuple(1.0 / n for n in (25.0, 23.0, 21.0, 19.0, 17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0))
"""Coefficients of the series of sine, cosine and arc tangent, the last term first, without signs."""

TOLERANCE = 1e-15
"""Convergence tolerance: longitudes on the auxiliary sphere that differ by at most this are equal."""
MAX_ITERATIONS = 18
"""The most corrections of a longitude before a geodesic counts as nearly antipodal."""
MAX_BISECTIONS = 60
"""The number of bisections of the azimuth of a nearly antipodal geodesic."""


def geodesic(lon1: float, lat1: float, lon2: float, lat2: float) -> float:
    """The length in metres of the shortest path on the WGS 84 ellipsoid between two points in degrees."""
    return _inverse(abs(_longitude(lon1, lon2)), lat1, lat2)[0]


def azimuth(lon1: float, lat1: float, lon2: float, lat2: float) -> float | None:
    """The compass bearing from the first point to the second, in degrees clockwise from north; None if they are equal.

    None if both points are the same. At a pole the azimuth is measured from the meridian of the first longitude.
    """
    longitude = _longitude(lon1, lon2)
    _, sine, cosine = _inverse(abs(longitude), lat1, lat2)
    if sine == 0.0 and cosine == 0.0:
        return None
    degrees = angle_of(sine, cosine) / DEGREE
    return 360.0 - degrees if longitude < 0.0 < degrees else degrees


def _longitude(lon1: float, lon2: float) -> float:
    """Return how far east the second longitude is of the first: -180 to 180 degrees, negative if it is further west."""
    longitude = lon2 - lon1
    while longitude > 180.0:
        longitude -= 360.0
    while longitude < -180.0:
        longitude += 360.0
    return longitude


def _inverse(longitude: float, lat1: float, lat2: float) -> tuple[float, float, float]:
    """Return (metres, sine, cosine of azimuth) of the geodesic from lat1 to lat2, `longitude` degrees eastward.

    The direction is the sine and the cosine of the azimuth, up to a common factor; both are 0 if the points are the
    same.
    """
    su1, cu1 = _reduced(lat1)
    su2, cu2 = _reduced(lat2)
    sl, cl = sine_cosine(longitude)
    correction = 0.0
    for _ in range(MAX_ITERATIONS):
        sd, cd = _tiny(correction)
        sin_l, cos_l = sl * cd + cl * sd, cl * cd - sl * sd
        across, along = cu2 * sin_l, cu1 * su2 - su1 * cu2 * cos_l
        sin_s = sqrt(across * across + along * along)
        cos_s = su1 * su2 + cu1 * cu2 * cos_l
        if sin_s == 0.0 and cos_s > 0.0:
            return 0.0, 0.0, 0.0
        sigma = angle_of(sin_s, cos_s)
        sin_a = cu1 * cu2 * sin_l / sin_s if sin_s > 0.0 else 0.0
        cos2_a = 1.0 - sin_a * sin_a
        cos_m = cos_s - 2.0 * su1 * su2 / cos2_a if cos2_a > 0.0 else 0.0
        after = _lag(sin_a, cos2_a, sigma, sin_s, cos_s, cos_m)
        change = after - correction
        correction = after
        if -TOLERANCE <= change <= TOLERANCE:
            if longitude * DEGREE + correction > PI:
                break
            if sin_s == 0.0:  # antipodal points: the geodesic goes over the north pole, or begins there
                along = 1.0 if cu1 > 0.0 or su1 < 0.0 else -1.0
            return _length(cos2_a, sigma, sin_s, cos_s, cos_m), across, along
    return _antipodal(longitude * DEGREE, su1, cu1, su2, cu2)


def sine_cosine(degrees: float) -> tuple[float, float]:
    """Compute sine and cosine of an angle of at most 180 degrees by polynomials, with the same bits everywhere."""
    turns = 0
    while degrees > 45.0:
        degrees -= 90.0
        turns += 1
    while degrees < -45.0:
        degrees += 90.0
        turns -= 1
    sine, cosine = _eighth(degrees * DEGREE)
    if turns == 0:
        return sine, cosine
    if turns == 1:
        return cosine, -sine
    if turns == -1:
        return -cosine, sine
    return -sine, -cosine


def angle_of(sine: float, cosine: float) -> float:
    """Compute the angle in radians, from 0 to pi, whose sine and cosine have the ratio of these two numbers."""
    x = -cosine if cosine < 0.0 else cosine
    y = sine
    x += sqrt(x * x + y * y)
    x += sqrt(x * x + y * y)
    x += sqrt(x * x + y * y)
    if x == 0.0:
        return 0.0
    t = y / x
    q = t * t
    angle = 8.0 * (t - t * q * _alternating(_ARC, q))
    return PI - angle if cosine < 0.0 else angle


def _alternating(coefficients: tuple[float, ...], q: float) -> float:
    """Evaluate the alternating series c1 - c2 * q + c3 * q * q - ...; `coefficients` begins with the last one."""
    total = coefficients[0]
    for coefficient in coefficients[1:]:
        total = coefficient - q * total
    return total


def _eighth(x: float) -> tuple[float, float]:
    """Compute sine and cosine of an angle of at most pi / 4 radians by their power series."""
    q = x * x
    return x - x * q * _alternating(_SINE, q), 1.0 - q * _alternating(_COSINE, q)


def _tiny(x: float) -> tuple[float, float]:
    """Compute sine and cosine of an angle of at most 0.011 radians by the first terms of their power series."""
    q = x * x
    return x - x * q * (1.0 / 6.0 - q / 120.0), 1.0 - q * (0.5 - q * (1.0 / 24.0 - q / 720.0))


def _reduced(latitude: float) -> tuple[float, float]:
    """Compute sine and cosine of the reduced latitude, a term of Vincenty's formulas, from a latitude in degrees."""
    sine, cosine = sine_cosine(latitude)
    sine *= 1.0 - F
    if cosine < 0.0:
        cosine = 0.0
    norm = sqrt(sine * sine + cosine * cosine)
    return sine / norm, cosine / norm


def _lag(
    sin_azimuth: float, square_cos_azimuth: float, arc: float, sin_arc: float, cos_arc: float, cos_twice_middle: float
) -> float:
    """Compute the longitude correction of Vincenty's formulas, in radians, from angles on the auxiliary sphere.

    The azimuth is that of the geodesic at the equator, the arc that between the points on the sphere, and its middle is
    measured from the equator.
    """
    c = F / 16.0 * square_cos_azimuth * (4.0 + F * (4.0 - 3.0 * square_cos_azimuth))
    return (
        (1.0 - c)
        * F
        * sin_azimuth
        * (arc + c * sin_arc * (cos_twice_middle + c * cos_arc * (2.0 * cos_twice_middle * cos_twice_middle - 1.0)))
    )


def _length(square_cos_azimuth: float, arc: float, sin_arc: float, cos_arc: float, cos_twice_middle: float) -> float:
    """Compute the length in metres of a geodesic by Vincenty's series, from angles on the auxiliary sphere."""
    u = square_cos_azimuth * (A * A - B * B) / (B * B)
    a = 1.0 + u / 16384.0 * (4096.0 + u * (-768.0 + u * (320.0 - 175.0 * u)))
    b = u / 1024.0 * (256.0 + u * (-128.0 + u * (74.0 - 47.0 * u)))
    square = 2.0 * cos_twice_middle * cos_twice_middle - 1.0
    third = (
        b / 6.0 * cos_twice_middle * (4.0 * sin_arc * sin_arc - 3.0) * (4.0 * cos_twice_middle * cos_twice_middle - 3.0)
    )
    return B * a * (arc - b * sin_arc * (cos_twice_middle + b / 4.0 * (cos_arc * square - third)))


def _antipodal(
    longitude: float, sin_lat1: float, cos_lat1: float, sin_lat2: float, cos_lat2: float
) -> tuple[float, float, float]:
    """Return (metres, sine, cosine of azimuth) of the geodesic of nearly antipodal points; `longitude` in radians.

    `longitude` is their distance in longitude in radians; the latitudes are reduced latitudes.

    The point nearer to a pole comes first and lies in the south; then the longitude at which a geodesic reaches the
    latitude of the second point grows with its azimuth, from 0 (north) to pi (south). Swapping the points reverses the
    geodesic, and mirroring it swaps north and south.
    """
    exchanged = sin_lat1 * sin_lat1 < sin_lat2 * sin_lat2
    if exchanged:
        sin_lat1, cos_lat1, sin_lat2, cos_lat2 = sin_lat2, cos_lat2, sin_lat1, cos_lat1
    mirrored = sin_lat1 > 0.0
    if mirrored:
        sin_lat1, sin_lat2 = -sin_lat1, -sin_lat2
    low_s, low_c, high_s, high_c = 0.0, 1.0, 0.0, -1.0
    sin_1, cos_1 = 1.0, 0.0
    length, sine, cosine = 0.0, 0.0, 0.0
    for _ in range(MAX_BISECTIONS):
        sin_a = sin_1 * cos_lat1
        cos2_a = cos_1 * cos_1 + sin_1 * sin_1 * sin_lat1 * sin_lat1
        ahead = cos_1 * cos_lat1
        squared = ahead * ahead + (sin_lat1 * sin_lat1 - sin_lat2 * sin_lat2)
        sin_s1, cos_s1 = _unit(sin_lat1, ahead)
        arriving = sqrt(squared) if squared > 0.0 else 0.0
        sin_s2, cos_s2 = _unit(sin_lat2, arriving)
        sin_s, cos_s = _between(sin_s1, cos_s1, sin_s2, cos_s2)
        sigma = angle_of(sin_s, cos_s)
        cos_m = cos_s1 * cos_s2 - sin_s1 * sin_s2
        sin_w, cos_w = _between(sin_a * sin_s1, cos_s1, sin_a * sin_s2, cos_s2)
        travelled = angle_of(sin_w, cos_w) - _lag(sin_a, cos2_a, sigma, sin_s, cos_s, cos_m)
        length = _length(cos2_a, sigma, sin_s, cos_s, cos_m)
        sine, cosine = (sin_a, -arriving) if exchanged else (sin_1, cos_1)
        if travelled < longitude:
            low_s, low_c = sin_1, cos_1
        else:
            high_s, high_c = sin_1, cos_1
        sin_1, cos_1 = _unit(low_s + high_s, low_c + high_c)
    if sin_lat1 == 0.0 and cosine < 0.0:  # both points are on the equator: of two geodesics, the northern one
        return length, sine, -cosine
    return length, sine, -cosine if mirrored else cosine


def _unit(y: float, x: float) -> tuple[float, float]:
    """Scale the vector (x, y) to length 1 and return sine and cosine of its angle; the zero vector has the angle 0."""
    norm = sqrt(x * x + y * y)
    return (y / norm, x / norm) if norm > 0.0 else (0.0, 1.0)


def _between(sin_1: float, cos_1: float, sin_2: float, cos_2: float) -> tuple[float, float]:
    """Compute sine and cosine, up to a common factor, of the angle (0 to pi) from the first direction to the second."""
    sine = sin_2 * cos_1 - cos_2 * sin_1
    return sine if sine > 0.0 else 0.0, cos_1 * cos_2 + sin_1 * sin_2
