#!/usr/bin/env bash
# Node 24 to 26: the name of the process is no longer "node", and that of its other threads changes with each of these versions.
#
# Guess: what `node server.js` starts is called node, so pgrep, pkill, killall, `ps -C node` and process exporters that group by name find it,
# and all of its threads.
# Seen (/proc/PID/comm, then the names in /proc/PID/task/*/comm):
#   20.20.2  node             all threads "node"
#   22.23.3  node             "libuv-worker" for the pool of file system, DNS and crypto; V8's own are "node"
#   24.21.0  MainThread       "V8Worker", which compile and collect, and "libuv-worker"
#   26.10.0  node-MainThread  "node-V8Worker" and "libuv-worker"
# `pgrep -x node` finds the first two. CPU time of V8's compilers and collectors can be told from that of JavaScript only from Node 24 on.
#
# Needs Linux, Node and the npm registry. Exits with 1 if the behavior has changed.
set -euo pipefail

dir=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$dir"' EXIT
cd "$dir"
# A job for the pool, and garbage for the collectors.
cat >server.js <<'JS'
require('crypto').pbkdf2('a', 'b', 1e5, 64, 'sha512', () => console.log('ready'))
let keep = []
setInterval(() => { for (let i = 0; i < 20000; i++) keep[i % 5000] = { text: String(i), all: new Array(20).fill(i) } }, 1)
JS

names=
for version in 20.20.2 22.23.3 24.21.0 26.10.0; do
	mkdir "$version"
	(cd "$version" && npm install --silent --no-audit --no-fund "node@$version" >../install 2>&1) || { cat install; exit 1; }
	"$version/node_modules/node/bin/node" server.js >ready &
	server=$!
	for _ in $(seq 300); do [ -s ready ] && break; sleep 0.1; done
	name=$(cat "/proc/$server/comm")
	threads=$(cat /proc/"$server"/task/*/comm | sort -u | grep -vE '^(DelayedTaskSche|SignalInspector)$' | paste -sd' ')
	kill "$server"
	wait "$server" 2>/dev/null || true
	server=
	: >ready
	echo "Node $version: $name; threads: $threads"
	names+="$name: $threads"$'\n'
done
[ "$names" = 'node: node
node: libuv-worker node
MainThread: MainThread V8Worker libuv-worker
node-MainThread: libuv-worker node-MainThread node-V8Worker
' ] || { echo "changed: the names are others"; exit 1; }
