package locations;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ParamsTest {
    private final Params params = new Params();

    @Test
    void allThatIsWrongIsToldAtOnce() {
        params.id("x");
        params.language(null);
        var problem = assertThrows(Problem.class, params::check);
        assertEquals(400, problem.status);
        assertEquals("id: not valid; want a whole number; language: missing; want one of cs, de, en, pl, sk", problem.getMessage());
    }

    @Test
    void whatIsRightIsRead() {
        assertEquals(5, params.id("5"));
        assertEquals(Language.sk, params.language("sk"));
        assertEquals(10_000, params.delayMillis("10000"));
        assertEquals(0, params.delayMillis(null));
        assertDoesNotThrow(params::check);
    }

    @ParameterizedTest
    @ValueSource(strings = {"-1", "10001", "99999999999999999999", "soon", "", "1.5"})
    void aDelayIsBounded(String delay) {
        params.delayMillis(delay);
        assertTrue(assertThrows(Problem.class, params::check).getMessage().startsWith("delay:"));
    }
}
