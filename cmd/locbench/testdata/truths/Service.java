import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.Executors;

/** A service without faults on the JVM: each response leaves garbage for the collector. */
class Service {
    public static void main(String[] args) throws IOException {
        int port = Integer.parseInt(System.getenv("PORT"));
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", port), 0);
        server.setExecutor(Executors.newFixedThreadPool(16));
        server.createContext("/", Service::item);
        server.start();
    }

    static void item(HttpExchange exchange) throws IOException {
        String path = exchange.getRequestURI().getPath();
        String id = path.startsWith("/items/") ? path.substring("/items/".length()) : "0";
        StringBuilder text = new StringBuilder("{\"id\":").append(id).append(",\"text\":\"");
        for (int i = 0; i < 900; i++) {
            text.append('x');
        }
        byte[] body = text.append("\"}").toString().getBytes();
        exchange.getResponseHeaders().set("Content-Type", "application/json");
        exchange.sendResponseHeaders(200, body.length);
        exchange.getResponseBody().write(body);
        exchange.close();
    }
}
