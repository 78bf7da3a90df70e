package locations;

/** Elasticsearch did not answer, or not what was asked for. */
class StoreException extends RuntimeException {
    StoreException(Throwable cause) {
        super(cause.getMessage(), cause);
    }
}
