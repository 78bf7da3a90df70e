package locations;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.helidon.common.uri.UriQuery;
import io.helidon.http.Status;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ParamsTest {
    private static Params params(String query) {
        return new Params(UriQuery.create(query));
    }

    @Test
    void allThatIsWrongIsToldAtOnce() {
        var params = params("id=x");
        params.id();
        params.language();
        var problem = assertThrows(Problem.class, params::check);
        assertEquals(Status.BAD_REQUEST_400, problem.status);
        assertEquals("id: not valid; want a whole number; language: missing; want one of cs, de, en, pl, sk", problem.getMessage());
    }

    @Test
    void whatIsRightIsRead() {
        var params = params("id=5&language=sk&delay=10000");
        assertEquals(5, params.id());
        assertEquals(Language.sk, params.language());
        assertEquals(10_000, params.delayMillis());
        assertEquals(0, params("").delayMillis());
        assertDoesNotThrow(params::check);
    }

    @ParameterizedTest
    @ValueSource(strings = {"-1", "10001", "99999999999999999999", "soon", "", "1.5"})
    void aDelayIsBounded(String delay) {
        var params = params("delay=" + delay);
        params.delayMillis();
        assertTrue(assertThrows(Problem.class, params::check).getMessage().startsWith("delay:"));
    }
}
