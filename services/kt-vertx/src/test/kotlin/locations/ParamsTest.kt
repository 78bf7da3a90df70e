package locations

import io.vertx.core.MultiMap
import io.vertx.ext.web.handler.HttpException
import kotlin.test.Test
import kotlin.test.assertEquals
import kotlin.test.assertFailsWith
import kotlin.test.assertTrue

class ParamsTest {
    private fun params(vararg given: Pair<String, String>) = Params(MultiMap.caseInsensitiveMultiMap().apply { given.forEach { (k, v) -> add(k, v) } })

    @Test
    fun `all that is wrong is told at once`() {
        val problem = assertFailsWith<HttpException> { params("id" to "x").read { id() to language() } }
        assertEquals(400, problem.statusCode)
        assertEquals("id: not valid; want a whole number; language: missing; want one of cs, de, en, pl, sk", problem.payload)
    }

    @Test
    fun `what is right is read`() {
        val read = params("id" to "5", "language" to "sk", "delay" to "10000").read { Triple(id(), language(), delayMillis()) }
        assertEquals(Triple(5L, Language.sk, 10_000L), read)
        assertEquals(0, params().read { delayMillis() })
    }

    @Test
    fun `a delay is bounded`() {
        for (delay in listOf("-1", "10001", "99999999999999999999", "soon", "", "1.5")) {
            val problem = assertFailsWith<HttpException>(delay) { params("delay" to delay).read { delayMillis() } }
            assertTrue(problem.payload.startsWith("delay:"), delay)
        }
    }
}
