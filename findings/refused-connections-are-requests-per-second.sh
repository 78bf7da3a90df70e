#!/usr/bin/env bash
# hey 0.1.5, bombardier 1.2.6, loadtest 8.2.1: a service that is down is the fastest one.
#
# Guess: "requests per second" are responses per second, or at least requests that reached a server. Of a port where nothing listens it
# is 0.
# Seen: each of the three counts connections that are refused as requests, and prints thousands "per second"; bombardier and loadtest
# count them in mean and quantiles of latency, too, which are below 5 ms. Only the list of errors says that there was no response.
# autocannon 9.0.0 says 0 requests, wrk ends with an error.
#
# Needs Go, Node and their registries. Exits with 1 if the behavior has changed.
set -euo pipefail

dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
cd "$dir"
for tool in github.com/rakyll/hey@v0.1.5 github.com/codesenberg/bombardier@v1.2.6; do
	GOBIN="$dir/bin" go install "$tool" >install 2>&1 || { cat install; exit 1; }
done
npm install --silent --no-audit --no-fund --ignore-scripts loadtest@8.2.1 autocannon@9.0.0 >install 2>&1 || { cat install; exit 1; }

# a port that was free a moment ago: nothing listens there
port=$(node -e 'const s = require("net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close() })')
url="http://127.0.0.1:$port/"

hey=$(bin/hey -z 1s -c 4 "$url" | awk '/Requests\/sec:/ { print int($2) }')
bin/bombardier -d 1s -c 4 -l --print result --format json "$url" >bombardier.json
read -r bombardier latency codes < <(node -e '
	const r = JSON.parse(require("fs").readFileSync("bombardier.json")).result
	console.log(Math.floor(r.rps.mean), Math.round(r.latency.percentiles["99"]), r.req1xx + r.req2xx + r.req3xx + r.req4xx + r.req5xx)')
node_modules/.bin/loadtest -t 1 -c 4 "$url" >loadtest.txt 2>&1 || true # ends with 1, as all failed
loadtest=$(awk '/Effective rps:/ { print int($3) }' loadtest.txt)
autocannon=$(node_modules/.bin/autocannon --json -d 1 -c 4 "$url" 2>/dev/null |
	node -e 'console.log(JSON.parse(require("fs").readFileSync(0)).requests.average)')

echo "nothing listens on the port; requests per second that each tool prints:"
echo "  hey 0.1.5         $hey"
echo "  bombardier 1.2.6  $bombardier, p99 $latency µs, $codes responses with a status"
echo "  loadtest 8.2.1    $loadtest"
echo "  autocannon 9.0.0  $autocannon"
if ((hey < 100 || bombardier < 100 || loadtest < 100 || codes != 0)) || [ "$autocannon" != 0 ]; then
	echo "changed: refused connections are no longer counted, or another tool counts them"
	exit 1
fi
