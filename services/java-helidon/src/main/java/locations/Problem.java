package locations;

import io.helidon.http.Status;

/** An answer other than 200. Its message names the parameter at fault. No stack trace: it is an answer, not a fault. */
final class Problem extends RuntimeException {
    final Status status;

    Problem(Status status, String message) {
        super(message, null, false, false);
        this.status = status;
    }
}
