package locations;

import java.util.ArrayList;
import java.util.List;
import javax.ws.rs.BadRequestException;

/** The parameters of a request for a city. */
public record CityQuery(long id, Language language) {

    /** Reads them by hand, since the binding of JAX-RS stops at the first that is wrong, and all are told. */
    public static CityQuery of(String id, String language) {
        var wrong = new ArrayList<String>();
        var query = new CityQuery(id(id, wrong), language(language, wrong));
        if (!wrong.isEmpty()) {
            throw new BadRequestException(String.join("; ", wrong));
        }
        return query;
    }

    private static long id(String given, List<String> wrong) {
        if (given == null || given.isEmpty()) {
            wrong.add("id: missing; want a whole number");
            return 0;
        }
        try {
            return Long.parseLong(given);
        } catch (NumberFormatException e) {
            wrong.add("id: not a whole number");
            return 0;
        }
    }

    private static Language language(String given, List<String> wrong) {
        if (given == null || given.isEmpty()) {
            wrong.add("language: missing; want one of cs, de, en, pl, sk");
            return null;
        }
        try {
            return Language.valueOf(given);
        } catch (IllegalArgumentException e) {
            wrong.add("language: unknown; want one of cs, de, en, pl, sk");
            return null;
        }
    }
}
