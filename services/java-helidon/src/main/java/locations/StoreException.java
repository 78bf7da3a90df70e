package locations;

/** Elasticsearch did not answer, or not what was asked for. */
final class StoreException extends RuntimeException {
    StoreException(String message) {
        super(message);
    }

    StoreException(Throwable cause) {
        super(cause);
    }
}
