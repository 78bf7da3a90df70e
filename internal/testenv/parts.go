package testenv

// BinaryVariable names the locbench that acceptance tests start: .ci/acceptance builds it once for
// all of them.
const BinaryVariable = "LOCBENCH_TEST_BINARY"

// Part is a group of acceptance tests that is run as one: the tests of all files whose build
// constraint is `acceptance && NAME`, or a few commands.
type Part struct {
	Name    string
	Shows   string // what it tests, in a few words
	Minutes int    // duration on two CPUs with warm builds
	Prepare []Step // installs what the part needs, in order
	Run     []Step // commands to run instead of tests with its tag
	Test    string // arguments of go test instead of those for tests with its tag
	Require string // value of LOCBENCH_REQUIRE: tests fail, not skip, without these real parts
	Cleanup string // a command that always runs at the end
}

// Step is a command for bash, run in the root of the repository.
type Step struct {
	Name    string
	Command string // exit code 75: it cannot run here and is skipped
	Env     string // variable for its output, in later steps and tests
}

// Tagged reports whether the part runs tests with its build tag, not commands.
func (p Part) Tagged() bool { return len(p.Run) == 0 && p.Test == "" }

var (
	needsEngine = []Step{
		{Command: ".ci/install docker"},
		{Command: ".ci/docker"},
		{Command: ".ci/images debian golang"},
	}
	elasticsearch = Step{Command: ".ci/elasticsearch start --port 9200", Env: "LOCBENCH_TEST_ELASTICSEARCH"}
	databases     = []Step{
		{Command: ".ci/databases postgres", Env: "LOCBENCH_TEST_POSTGRES"},
		{Command: ".ci/databases mariadb", Env: "LOCBENCH_TEST_MARIADB"},
		{Command: ".ci/databases redis", Env: "LOCBENCH_TEST_REDIS"},
		{Command: ".ci/images node python"},
	}
	image = Step{Command: ".ci/elasticsearch image", Env: "LOCBENCH_TEST_ELASTICSEARCH_IMAGE"}
)

// Parts are the parts of the acceptance suite, in the order in which they run.
var Parts = []Part{
	{Name: "static", Shows: "other systems build, 32-bit loops run, known vulnerabilities", Minutes: 6, Run: []Step{
		{Name: "other systems", Command: ".ci/cross"},
		{Name: "known vulnerabilities", Command: ".ci/vuln"},
	}},
	{Name: "race", Shows: "the plain suite under the race detector", Minutes: 8,
		Prepare: []Step{{Command: ".ci/install race"}}, Test: "-race -timeout 18m ./..."},
	{Name: "engine", Minutes: 12,
		Shows:   "containers, limits and whole runs with a Docker engine, and the same as processes",
		Prepare: append(append([]Step{}, needsEngine...), Step{Command: ".ci/images node"}), Require: "docker,images"},
	{Name: "store", Shows: "the embedded store, seeding and checks equal to a real Elasticsearch", Minutes: 12,
		Prepare: append(append([]Step{}, needsEngine...), elasticsearch, image), Require: "docker,images,elasticsearch",
		Cleanup: ".ci/elasticsearch stop --port 9200"},
	{Name: "database", Shows: "services with a PostgreSQL, MariaDB and Redis: ready, seeded, restored, failing in each phase", Minutes: 15,
		Prepare: append(append([]Step{}, needsEngine...), databases...), Require: "docker,images,databases"},
	{Name: "contenders", Shows: "each bundled contender is built, checked and loaded", Minutes: 25,
		Prepare: []Step{needsEngine[0], needsEngine[1], {Command: ".ci/images"}}, Require: "docker,images"},
	{Name: "browser", Shows: "the report in Chromium: charts, widths, accessibility", Minutes: 8,
		Prepare: []Step{{Command: ".ci/install browser"}, {Command: ".ci/axe", Env: "LOCBENCH_TEST_AXE"}},
		Require: "chromium,axe"},
	{Name: "terminal", Shows: "the dashboard on a real terminal, and its worker", Minutes: 6,
		Prepare: append(append([]Step{}, needsEngine...), Step{Command: ".ci/install terminal"}),
		Require: "docker,images,tmux"},
	{Name: "faults", Shows: "signals, full disks, clocks, stores and contenders that fail in each phase", Minutes: 15,
		Prepare: needsEngine, Require: "docker,images"},
	{Name: "release", Shows: "packages, image and go install of a tag run the main job and say its version", Minutes: 12,
		Prepare: append(append([]Step{}, needsEngine...), Step{Command: ".ci/release", Env: "LOCBENCH_TEST_RELEASE"}),
		Require: "docker,images,release"},
	{Name: "cgroup2", Minutes: 16,
		Shows:   "limits, counters and kills on cgroup v2, with and without root, in a virtual machine",
		Prepare: []Step{{Command: ".ci/install machine"}, {Command: ".ci/v2host", Env: "LOCBENCH_TEST_V2HOST"}},
		Require: "v2host"},
	{Name: "timing", Shows: "rates, latencies and CPU time against known values; alone on the machine", Minutes: 20,
		Prepare: append(append([]Step{}, needsEngine...), Step{Command: ".ci/install wrk"}), Require: "docker,images,wrk"},
}
