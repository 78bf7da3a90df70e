# Shorthands; the README's two commands need no make.

FUZZTIME ?= 60s

.PHONY: help mutants build test acceptance words cover flakes bench lint cross vuln fuzz bench-check bench-tui bench-load bench-seed bench-store bench-sample bench-verdict bench-truths bench-aa bench-default bench-report screens dist clean

help: ## prints this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## one static binary, ./locbench
	CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o locbench ./cmd/locbench

test: ## the README's test command
	go test ./...

acceptance: ## real engine, store, browser, terminal, virtual machine, and timing; PARTS="engine store" for some (.ci/acceptance -h)
	.ci/acceptance $(PARTS)

words: ## prints every sentence that users see, by place, to read them in one go
	@go run ./internal/testenv/words

cover: ## statement coverage of the test command over internal/; fails below 70%
	go test -coverprofile=cover.out -coverpkg="$$(go list ./internal/... | grep -v /testenv | paste -sd, -)" ./... >/dev/null
	@go tool cover -func=cover.out | awk 'END { print "statement coverage of internal/: " $$NF; if ($$NF + 0 < 70) exit 1 }'

JUDGING := figures/hdr figures/measure figures/stats figures/verdict analysis analysis/compare analysis/conclusion load/record load/workload \
	contender/check contender/launch docker host/cgroup run/capacity bench bench/cpuset bench/units \
	results run/profile run/runner needs/container needs/compose app
PKG ?= $(addprefix internal/,$(JUDGING))
mutants: ## which changes of one operator no plain test of the package notices; PKG=internal/figures/verdict for one package, SAMPLE=60 for 60 of each (all: some hours)
	@go run ./internal/testenv/mutants -docs docs/testing.md $(addprefix -sample ,$(SAMPLE)) $(PKG)

lint: ## gofmt and golangci-lint, of acceptance tests too (.golangci.yml)
	@unformatted="$$(git ls-files '*.go' | xargs gofmt -l)"; test -z "$$unformatted" || { echo "gofmt would change:"; echo "$$unformatted"; exit 1; }
	@.ci/lint

vuln: ## govulncheck; fails if its database cannot be reached
	@.ci/vuln

cross: ## builds and vets for Linux on arm64 and 386, macOS, Windows; runs the client's loops as a 32-bit program
	@.ci/cross

flakes: ## the test command ten times in a row next to spinning processes
	.ci/flakes

fuzz: ## every parser of outside input, FUZZTIME each
	@.ci/fuzz $(FUZZTIME)

bench: ## locbench vs other load tools, and vs BASE=BINARY: writes docs/measured.json and the table of docs/measured.md (15 minutes; as root on Debian it installs tools); ROWS=REGEXP, SECONDS=1, PAIRS=1 for a look, which writes nothing
	-.ci/install bench
	PATH="$$PATH:/usr/sbin:$$(go env GOPATH)/bin" BASE=$(abspath $(BASE)) ROWS='$(ROWS)' SECONDS=$(SECONDS) PAIRS=$(PAIRS) go test -tags acceptance -run '^$$' -bench Measured -benchtime 1x -timeout 0 ./internal/testenv/measured

bench-check: ## fails where the figures of docs/measured.json miss a bar
	@go run ./internal/testenv/measured

bench-load: ## requests per CPU second and per second: client vs wrk on the same server, expected bodies vs none, in alternating pairs (some minutes); memory per row of a file
	go test -run '^$$' -bench Rows -benchtime 3x ./internal/values
	go test -tags acceptance -run '^$$' -bench Wrk -benchtime 1x -timeout 0 ./internal/load
	go test -tags acceptance -run '^$$' -bench Comparing -benchtime 1x -timeout 0 ./internal/app

bench-seed: ## seeding vs a bare client posting the same bodies (LOCBENCH_TEST_ELASTICSEARCH)
	@test -n "$$LOCBENCH_TEST_ELASTICSEARCH" || { echo 'name an Elasticsearch to fill: LOCBENCH_TEST_ELASTICSEARCH=http://127.0.0.1:9200 make $@'; exit 2; }
	go test -tags acceptance -run '^$$' -bench Seed -benchtime 1x -timeout 0 ./internal/store/seed

bench-store: ## CPU time of one _source call: embedded store vs Elasticsearch (LOCBENCH_TEST_ELASTICSEARCH)
	@test -n "$$LOCBENCH_TEST_ELASTICSEARCH" || { echo 'name an idle Elasticsearch 7: LOCBENCH_TEST_ELASTICSEARCH=http://127.0.0.1:9200 make $@'; exit 2; }
	go test -tags acceptance -run '^$$' -bench SourceCPU -benchtime 1x ./internal/store/embedded

RUNS ?= 20
bench-verdict: ## how often the bottleneck of contenders with a known one is found; RUNS trials of each (20: some 10 minutes)
	RUNS=$(RUNS) go test -tags acceptance -run '^$$' -bench Verdict -benchtime 1x -timeout 0 ./cmd/locbench

bench-truths: ## services that send unexpected bodies or leak memory, and ones that do not: in how many runs each was found; RUNS runs of each (20: about an hour and a half)
	RUNS=$(RUNS) go test -tags acceptance -run '^$$' -bench 'Unexpected|Leak' -benchtime 1x -timeout 0 ./cmd/locbench

COMPARISONS ?= 10
bench-aa: ## how often a false difference is found, and a real one of 10%: A/A test of the reference contender; 10 COMPARISONS: some 30 minutes; INTERLEAVE=100ms ROUNDS=12 for noisy machines
	COMPARISONS=$(COMPARISONS) STEP=$(STEP) INTERLEAVE=$(INTERLEAVE) ROUNDS=$(ROUNDS) AWAKE=$(AWAKE) ONLY=$(ONLY) go test -tags acceptance -run '^$$' -bench AA -benchtime 1x -timeout 0 ./cmd/locbench

bench-default: ## the same at the default settings of 'profiles new', a run for each comparison: equal contenders, and MORE=15 percent more CPU time per request; SPIN=1 next to a spinning process, ONLY=same or ONLY=slower, RUNTIME=process, QUICK=1 for a look; 10 COMPARISONS: some 60 minutes
	COMPARISONS=$(COMPARISONS) MORE=$(MORE) ONLY=$(ONLY) SPIN=$(SPIN) RUNTIME=$(RUNTIME) QUICK=$(QUICK) go test -tags acceptance -run '^$$' -bench Defaults -benchtime 1x -timeout 0 ./cmd/locbench

bench-sample: ## the cost of reading the counters: time and system calls per reading, the contender with a hundred readings a second and without; PAIRS alternating pairs
	go test -run '^$$' -bench Sampling ./internal/host/cgroup
	LOCBENCH_BENCH_PAIRS=$(or $(PAIRS),6) go test -tags acceptance -run '^$$' -bench Sampling -benchtime 1x -timeout 0 ./internal/host/hostusage

bench-tui: ## the cost of watching a run: a frame, memory after an hour, CPU time of the screen, throughput with and without it, key to frame; PAIRS alternating pairs
	go test -run '^$$' -bench 'Frame|Hour' -benchtime 1x ./internal/show/tui
	LOCBENCH_BENCH_PAIRS=$(or $(PAIRS),6) go test -tags acceptance -run '^$$' -bench Screen -benchtime 1x -timeout 0 ./cmd/locbench

bench-report: ## time of a large report (8 contenders × 6 rounds × 16 steps): to make it, to its first paint in Chromium
	go test -tags acceptance -run '^$$' -bench Report -benchtime 5x ./internal/show/report

screens: ## makes the pictures of first screens in docs/ again (report-*.png)
	LOCBENCH_SCREENS=$(CURDIR)/docs go test -tags acceptance,browser -count 1 -run 'TestFirstScreen$$' ./internal/show/report

dist: ## everything of a release in dist/: archives, deb, rpm, images, SBOMs, checksums; publishes nothing (docs/releasing.md)
	@.ci/dist

clean: ## removes the files of builds and runs from the checkout
	rm -rf locbench results acceptance cover.out dist .cache/dist
