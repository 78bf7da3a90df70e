package locations

import org.slf4j.LoggerFactory
import org.springframework.boot.SpringApplication
import org.springframework.boot.autoconfigure.SpringBootApplication
import org.springframework.core.NestedExceptionUtils
import kotlin.concurrent.thread
import kotlin.system.exitProcess

@SpringBootApplication
class Application

private val log = LoggerFactory.getLogger(Application::class.java)

fun main(args: Array<String>) {
    val application = SpringApplication(Application::class.java)
    application.setRegisterShutdownHook(false) // the one below takes its place
    try {
        Store(System.getenv("ELASTICSEARCH_URL")).reach() // first of all: without it there is nothing to start
        val context = application.run(*args)
        Runtime.getRuntime().addShutdownHook(thread(start = false) {
            context.close() // waits for the requests in flight
            Runtime.getRuntime().halt(0) // a JVM that ends by SIGTERM would exit with 143, although all went as it should
        })
    } catch (e: Exception) {
        log.error("{}", NestedExceptionUtils.getMostSpecificCause(e).message)
        exitProcess(1)
    }
}
