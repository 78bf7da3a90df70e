package locations;

/** The languages of the API, by their code in the parameter {@code language}. */
public enum Language { cs, de, en, pl, sk }
