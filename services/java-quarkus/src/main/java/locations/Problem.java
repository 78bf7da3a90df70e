package locations;

/** An answer other than 200. Its message names the parameter at fault. No stack trace: it is an answer, not a fault. */
class Problem extends RuntimeException {
    final int status;

    Problem(int status, String message) {
        super(message, null, false, false);
        this.status = status;
    }
}
