#!/usr/bin/env bash
# gunicorn 23.0.0, hypercorn 0.17.3, aiohttp 3.13.2, granian 2.5.7: the time of a line in an access log is that of the response's
# end in two of them, and that of the request's start in the other two, in the same form.
#
# Guess: in the common log format, [29/Nov/2026:17:36:49 +0000] is when the request came, as in Apache's httpd and in gunicorn's
# own documentation ("date of the request").
# Seen: of a request that takes 3 s the line of gunicorn and hypercorn has the time of its end, that of aiohttp and granian the time
# of its start. All four write the line at the end, so those of aiohttp and granian are not in the order of their times. Who sends a
# log again by its times sends slow requests of gunicorn later than users did, each by its own duration, and with it too few at a time.
#
# Needs Python 3 with venv, and a package index. Exits with 1 if the behavior has changed.
set -euo pipefail

dir=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null || true; rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" -q --disable-pip-version-check install gunicorn==23.0.0 hypercorn==0.17.3 aiohttp==3.13.2 granian==2.5.7
cd "$dir"
cat >app.py <<'EOF'
import asyncio, time

def wsgi(env, start):
    time.sleep(3 if env["PATH_INFO"] == "/slow" else 0)
    start("200 OK", [("Content-Length", "2")])
    return [b"ok"]

async def asgi(scope, receive, send):
    if scope["type"] != "http":
        return
    await asyncio.sleep(3 if scope["path"] == "/slow" else 0)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})
EOF
cat >own.py <<'EOF'
import asyncio, logging, sys
from aiohttp import web

logging.basicConfig(level=logging.INFO)

async def handle(request):
    await asyncio.sleep(3 if request.path == "/slow" else 0)
    return web.Response(text="ok")

app = web.Application()
app.router.add_get("/{any}", handle)
web.run_app(app, host="127.0.0.1", port=int(sys.argv[1]))
EOF

# port prints one that is free.
port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

# of NAME EXPECTED COMMAND… sends a request of 3 s and prints how long after its start the time in its line is.
of() {
	local name=$1 expected=$2 at seen line
	shift 2
	"$@" >"$name.log" 2>&1 &
	server=$!
	for _ in $(seq 100); do curl -s -o /dev/null "http://127.0.0.1:$p/up" && break || sleep 0.1; done
	at=$(date +%s)
	curl -s -o /dev/null "http://127.0.0.1:$p/slow"
	sleep 2
	line=$(grep -a 'GET /slow' "$name.log" | tail -1)
	kill "$server"
	wait "$server" 2>/dev/null || true
	server=
	seen=$(python3 - "$line" "$at" <<'EOF'
import re, sys, datetime
line, at = sys.argv[1], int(sys.argv[2])
m = re.search(r"\[(\d+/\w+/\d+:\d+:\d+:\d+ [+-]\d+)\]", line)
t = datetime.datetime.strptime(m[1], "%d/%b/%Y:%H:%M:%S %z") if m else datetime.datetime.strptime(
    re.search(r"\[([^]]+)\]", line)[1], "%Y-%m-%d %H:%M:%S %z")
print("end" if t.timestamp() - at >= 2 else "start")
EOF
	)
	echo "$name: the time of its $seen"
	[ "$seen" = "$expected" ] || { echo "changed: $line"; exit 1; }
}

bin=$dir/venv/bin
p=$(port) && of gunicorn end "$bin/gunicorn" -b "127.0.0.1:$p" --threads 4 --access-logfile - app:wsgi
p=$(port) && of hypercorn end "$bin/hypercorn" -b "127.0.0.1:$p" --access-logfile - app:asgi
p=$(port) && of aiohttp start "$bin/python" own.py "$p"
p=$(port) && of granian start "$bin/granian" --interface asgi --port "$p" --access-log app:asgi
