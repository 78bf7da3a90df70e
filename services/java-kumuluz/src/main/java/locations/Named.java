package locations;

/** The names of a place. */
public interface Named {
    String cs();

    String de();

    String en();

    String pl();

    String sk();

    default String name(Language language) {
        return switch (language) {
            case cs -> cs();
            case de -> de();
            case en -> en();
            case pl -> pl();
            case sk -> sk();
        };
    }
}
