package locations;

import javax.ws.rs.BadRequestException;

/** The parameter of a delay, which may be left out. */
public record BenchmarkQuery(long ms) {
    private static final long MAX = 10_000; // well within the time that a stop leaves to a request

    public static BenchmarkQuery of(String delay) {
        try {
            var ms = delay == null ? 0 : Long.parseLong(delay);
            if (ms >= 0 && ms <= MAX) {
                return new BenchmarkQuery(ms);
            }
        } catch (NumberFormatException e) {
            // told below
        }
        throw new BadRequestException("delay: not a whole number of milliseconds from 0 to " + MAX);
    }
}
