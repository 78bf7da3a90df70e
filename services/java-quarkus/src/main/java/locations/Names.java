package locations;

import io.vertx.core.json.JsonObject;
import java.util.EnumMap;
import java.util.Map;

/** The names of a place. */
record Names(Map<Language, String> byLanguage) {
    /** Reads them out of a document, which has them as flat keys with a dot. */
    static Names of(JsonObject document) {
        var names = new EnumMap<Language, String>(Language.class);
        for (var language : Language.values()) names.put(language, document.getString("name." + language));
        return new Names(names);
    }

    String in(Language language) {
        return byLanguage.get(language);
    }
}
