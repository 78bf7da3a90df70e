package locations;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Parses the parameters of one request and collects what is wrong with them; what is wrong has a value that nobody will use. */
class Params {
    private static final int MAX_DELAY = 10_000; // ms: well within the time that a stop leaves to it
    private static final String LANGUAGES = Arrays.stream(Language.values()).map(Enum::name).collect(Collectors.joining(", "));

    private final List<String> problems = new ArrayList<>();

    long id(String text) {
        return required("id", "a whole number", text, 0L, Long::valueOf);
    }

    Language language(String text) {
        return required("language", "one of " + LANGUAGES, text, Language.en, Language::valueOf);
    }

    /** The delay, which may be left out. */
    int delayMillis(String text) {
        return text == null ? 0 : parsed("delay", "milliseconds from 0 to " + MAX_DELAY, text, 0, s -> {
            int delay = Integer.parseInt(s);
            if (delay < 0 || delay > MAX_DELAY) throw new IllegalArgumentException();
            return delay;
        });
    }

    /** Throws a 400 that tells all problems, if there are any. */
    void check() {
        if (!problems.isEmpty()) throw new Problem(400, String.join("; ", problems));
    }

    private <T> T required(String name, String want, String text, T otherwise, Function<String, T> parse) {
        if (text != null && !text.isEmpty()) return parsed(name, want, text, otherwise, parse);
        problems.add(name + ": missing; want " + want);
        return otherwise;
    }

    private <T> T parsed(String name, String want, String text, T otherwise, Function<String, T> parse) {
        try {
            return parse.apply(text);
        } catch (IllegalArgumentException e) { // a NumberFormatException is one too
            problems.add(name + ": not valid; want " + want);
            return otherwise;
        }
    }
}
