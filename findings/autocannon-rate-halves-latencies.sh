#!/usr/bin/env bash
# autocannon 9.0.0: with --overallRate (-R) or --connectionRate (-r), latencies come out far shorter than any response was.
#
# Guess: at a rate, "corrected for coordinated omission" can only add waiting. A server that takes 100 ms for each response has
# a p50 of 100 ms and a minimum of 100 ms.
# Seen: min 1 ms, p50 about 50 ms, and some 100 latencies for each response: the correction takes 1 ms as the expected interval, whatever
# the rate is, and records latency - 1 ms, latency - 2 ms, ... down to 1 ms for each response. With --ignoreCoordinatedOmission the
# same run has min and p50 of 100 ms.
#
# Needs Node and the npm registry. Exits with 1 if the behavior has changed.
set -euo pipefail

dir=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund --ignore-scripts autocannon@9.0.0 >install 2>&1 || { cat install; exit 1; }

cat >server.js <<'JS'
const server = require('http').createServer((_, res) => setTimeout(() => res.end('ok'), 100))
server.listen(0, '127.0.0.1', () => console.log(server.address().port))
JS
node server.js >port &
server=$!
for _ in $(seq 100); do [ -s port ] && break; sleep 0.1; done

# load prints minimum, p50, number of latencies and number of responses.
load() {
	node_modules/.bin/autocannon --json -c 4 -R 20 -d 4 "$@" "http://127.0.0.1:$(cat port)/" 2>/dev/null |
		node -e 'const r = JSON.parse(require("fs").readFileSync(0)); console.log(r.latency.min, r.latency.p50, r.latency.totalCount, r["2xx"])'
}

read -r min p50 latencies responses < <(load)
read -r truemin truep50 _ _ < <(load --ignoreCoordinatedOmission)
echo "autocannon 9.0.0, 20/s, each response takes 100 ms:"
echo "  -R 20:                              min $min ms, p50 $p50 ms, $latencies latencies of $responses responses"
echo "  -R 20 --ignoreCoordinatedOmission:  min $truemin ms, p50 $truep50 ms"
if ((min >= 99 || p50 >= 99 || latencies <= responses || truemin < 99)); then
	echo "changed: no latency is below 100 ms, or the option does not turn the correction off"
	exit 1
fi
