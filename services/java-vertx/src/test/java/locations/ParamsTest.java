package locations;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.vertx.core.MultiMap;
import io.vertx.ext.web.handler.HttpException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ParamsTest {
    private static Params params(String... pairs) {
        var given = MultiMap.caseInsensitiveMultiMap();
        for (int i = 0; i < pairs.length; i += 2) given.add(pairs[i], pairs[i + 1]);
        return new Params(given);
    }

    @Test
    void allThatIsWrongIsToldAtOnce() {
        var params = params("id", "x");
        params.id();
        params.language();
        var problem = assertThrows(HttpException.class, params::check);
        assertEquals(400, problem.getStatusCode());
        assertEquals("id: not valid; want a whole number; language: missing; want one of cs, de, en, pl, sk", problem.getPayload());
    }

    @Test
    void whatIsRightIsRead() {
        var params = params("id", "5", "language", "sk", "delay", "10000");
        assertEquals(5, params.id());
        assertEquals(Language.sk, params.language());
        assertEquals(10_000, params.delayMillis());
        assertEquals(0, params().delayMillis());
        assertDoesNotThrow(params::check);
    }

    @ParameterizedTest
    @ValueSource(strings = {"-1", "10001", "99999999999999999999", "soon", "", "1.5"})
    void aDelayIsBounded(String delay) {
        var params = params("delay", delay);
        params.delayMillis();
        assertTrue(assertThrows(HttpException.class, params::check).getPayload().startsWith("delay:"));
    }
}
