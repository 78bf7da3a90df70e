#!/usr/bin/env bash
# Locust 2.44.0: percentiles have one or two digits, while mean, median and maximum are exact.
#
# Guess: if each response takes 1,149 ms, p95 and p99 are 1,149 ms, as mean and maximum are; one that takes 1,051 ms has 1,051 ms.
# Seen, in the table that --csv writes: 1,100 ms for both, so a service that is 9% slower has the same p95 and p99; 1,000 ms for
# 1,049 ms, so 0.2% more make it 10% worse, and the 100th percentile is below the maximum of the same row; 0 for each below half a
# millisecond. Times are put into bins: of 1 ms below 100 ms, then of 10 ms, from a second on of 100 ms, from 10 s on of a second.
#
# Needs Python 3.10 or later and a package index. Exits with 1 if the behavior has changed.
set -euo pipefail

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install -q locust==2.44.0 >"$dir/install" 2>&1 || { cat "$dir/install"; exit 1; }

cat >"$dir/locustfile.py" <<'PY'
from locust import User, constant, task


class Known(User):
    """Reports requests of known response times; sends none."""

    wait_time = constant(0.01)

    @task
    def report(self):
        for ms in (0.4, 1049, 1051, 1149):
            self.environment.events.request.fire(
                request_type="GET", name=f"{ms:g}", response_time=ms, response_length=0, exception=None, context={}
            )
PY
(cd "$dir" && "$dir/venv/bin/locust" --headless --only-summary --users 1 --run-time 2s --csv out >"$dir/log" 2>&1) || { cat "$dir/log"; exit 1; }

"$dir/venv/bin/python" - "$dir/out_stats.csv" <<'PY'
import csv
import sys

seen = {}
for row in csv.DictReader(open(sys.argv[1])):
    if row["Name"] != "Aggregated":
        seen[row["Name"]] = [row[k] for k in ("95%", "99%", "100%", "Max Response Time")]
        print(f"each {row['Name']:>5} ms: p95 {row['95%']}, p99 {row['99%']}, p100 {row['100%']}, "
              f"mean {float(row['Average Response Time']):g}, maximum {float(row['Max Response Time']):g}")
wanted = {"0.4": "0", "1049": "1000", "1051": "1100", "1149": "1100"}
for name, bin in wanted.items():
    if seen[name][:3] != [bin] * 3:
        sys.exit(f"changed: percentiles of {name} ms are {seen[name][:3]}")
PY
