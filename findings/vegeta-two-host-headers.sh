#!/usr/bin/env bash
# vegeta 12.13.0: a header that is written in lower case is sent next to vegeta's own, not in its place.
#
# Guess: names of headers have no case, so `host: shop.example` and `user-agent: app` of a targets file replace what a client
# sends by itself, as `Host:` and `User-Agent:` do. Browsers and HTTP/2 tools write names in lower case, and so do copies of theirs.
# Seen: two lines of each, with different values: "Host: 127.0.0.1:PORT" and "host: shop.example". Of two Host lines a server
# must respond 400 (RFC 9112, 3.2), which Go's and nginx do, or it uses the first: the load then goes to another virtual host.
# The same in all three ways to give a header: the http and json formats, and -header.
#
# Needs Go, a Go module proxy and Python 3. Exits with 1 if the behavior has changed.
set -euo pipefail

dir=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server"; chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
GOBIN="$dir/bin" GOPATH="$dir/go" GOFLAGS=-modcacherw go install github.com/tsenart/vegeta/v12@v12.13.0 >"$dir/install" 2>&1 || { cat "$dir/install"; exit 1; }

# A server that responds 200 and writes down the head of each request.
cat >"$dir/server.py" <<'EOF'
import socket, sys
s = socket.create_server(("127.0.0.1", 0))
print(s.getsockname()[1], file=open(sys.argv[1] + "/port", "w"), flush=True)
while True:
    c, _ = s.accept()
    head = b""
    while b"\r\n\r\n" not in head:
        head += c.recv(65536)
    open(sys.argv[1] + "/heads", "ab").write(head)
    c.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
    c.close()
EOF
python3 "$dir/server.py" "$dir" &
server=$!
for _ in $(seq 50); do [ -s "$dir/port" ] && break || sleep 0.1; done
url="http://127.0.0.1:$(cat "$dir/port")"

# sent FORM HOST AGENT ARGUMENT… prints how many Host and User-Agent lines one request of vegeta has.
sent() {
	local form=$1
	shift
	: >"$dir/heads"
	"$dir/bin/vegeta" attack -rate 1 -duration 1s "$@" >"$dir/results"
	printf '%-34s %s Host, %s User-Agent\n' "$form" "$(grep -aic '^host:' "$dir/heads")" "$(grep -aic '^user-agent:' "$dir/heads")"
}

printf 'GET %s/\nHost: shop.example\nUser-Agent: app\n' "$url" >"$dir/capital"
printf 'GET %s/\nhost: shop.example\nuser-agent: app\n' "$url" >"$dir/lower"
printf '{"method":"GET","url":"%s/","header":{"host":["shop.example"],"user-agent":["app"]}}\n' "$url" >"$dir/json"
printf 'GET %s/\n' "$url" >"$dir/plain"

echo "vegeta 12.13.0, lines that one request has:"
capital=$(sent "targets file, capitals" -targets "$dir/capital")
lower=$(sent "targets file, lower case" -targets "$dir/lower")
json=$(sent "-format json, lower case" -format json -targets "$dir/json")
flag=$(sent "-header, lower case" -targets "$dir/plain" -header 'host: shop.example' -header 'user-agent: app')
printf '%s\n' "$capital" "$lower" "$json" "$flag"
[[ $capital == *"1 Host, 1 User-Agent" ]] || { echo "changed: capitals"; exit 1; }
for seen in "$lower" "$json" "$flag"; do
	[[ $seen == *"2 Host, 2 User-Agent" ]] || { echo "changed: $seen"; exit 1; }
done
