package conclusion

import (
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/benchtest"
	"github.com/locbench/locbench/internal/testenv"
)

// A suggested command is that of the run, with the options that it changes.
func TestCommand(t *testing.T) {
	for name, c := range map[string]struct {
		given, want, alone string // after "locbench run"; _ is a space in a word
	}{
		"nothing":         {"", "--rounds 6", "a --rounds 6"},
		"profile":         {"--profile=orders", "--profile orders --rounds 6", "--profile orders a --rounds 6"},
		"changed":         {"--cpus=2 --rounds=1 --memory=1GiB", "--cpus 2 --memory 1GiB --rounds 6", "--cpus 2 --memory 1GiB a --rounds 6"},
		"contenders":      {"--cpus=2 a b:lto", "--cpus 2 a b:lto --rounds 6", "--cpus 2 a --rounds 6"},
		"no value":        {"--http2 --no-checks", "--http2 --no-checks --rounds 6", "--http2 --no-checks a --rounds 6"},
		"off":             {"--insecure=false", "--insecure=false --rounds 6", "--insecure=false a --rounds 6"},
		"repeated":        {"--threshold=p99<50ms --threshold=errors<1%", "--threshold 'p99<50ms' --threshold 'errors<1%' --rounds 6", "--threshold 'p99<50ms' --threshold 'errors<1%' a --rounds 6"},
		"user of a store": {"--elastic=http://me:secret@10.0.0.5:9200", "--elastic http://10.0.0.5:9200 --rounds 6", "--elastic http://10.0.0.5:9200 a --rounds 6"},
		"masked user":     {"--elastic=http://***@10.0.0.5:9200", "--elastic http://10.0.0.5:9200 --rounds 6", "--elastic http://10.0.0.5:9200 a --rounds 6"},
		"header":          {"--header=Authorization:_Bearer_secret1", "--header 'Authorization: Bearer ***' --rounds 6", "--header 'Authorization: Bearer ***' a --rounds 6"},
		"folder":          {"--services=/home/me/svc/", "--services svc/ --rounds 6", "--services svc/ a --rounds 6"},
		"file":            {"--profile=/home/me/orders.yaml", "--profile orders.yaml --rounds 6", "--profile orders.yaml a --rounds 6"},
		"relative file":   {"--profile=bench/orders.yaml", "--profile bench/orders.yaml --rounds 6", "--profile bench/orders.yaml a --rounds 6"},
		"of Windows":      {`--profile=C:\Users\me\orders.yaml`, "--profile orders.yaml --rounds 6", "--profile orders.yaml a --rounds 6"},
		"body in a file":  {"--body=@/home/me/order.json", "--body @order.json --rounds 6", "--body @order.json a --rounds 6"},
		"quoted":          {`--services="/home/me/a,b"`, `--services '"a,b"' --rounds 6`, `--services '"a,b"' a --rounds 6`},
		"long":            {"--body=" + strings.Repeat("x", 300), "--body " + strings.Repeat("x", 193) + "… --rounds 6", "--body " + strings.Repeat("x", 193) + "… a --rounds 6"},
	} {
		t.Run(name, func(t *testing.T) {
			trials := []bench.TrialResult{benchtest.Trial("a", 1, benchtest.Step(1)), benchtest.Trial("b:lto", 1, benchtest.Step(1))}
			run := benchtest.Run(trials...)
			run.Given = []string{"locbench", "run"}
			for _, word := range strings.Fields(c.given) {
				run.Given = append(run.Given, strings.ReplaceAll(word, "_", " "))
			}
			d := draft{Run: analysis.Of(run, trials)}
			testenv.Equal(t, d.again("--rounds=6"), "locbench run "+c.want)
			testenv.Equal(t, d.alone(d.Run.Contenders[0], "--rounds=6"), "locbench run "+c.alone)
		})
	}
}

// One of several targets is named by its target; a record without the command has the profile.
func TestCommand_Targets(t *testing.T) {
	trials := []bench.TrialResult{benchtest.Trial("a", 1, benchtest.Step(1)), benchtest.Trial("b", 1, benchtest.Step(1))}
	run := benchtest.Run(trials...)
	run.Targets = []bench.Target{{Name: "a", URL: "http://me:secret@h:1"}, {Name: "b", URL: "http://h:2"}}
	d := draft{Run: analysis.Of(run, trials)}
	testenv.Equal(t, d.again(), "locbench run --profile test --target a=http://h:1 --target b=http://h:2")
	d.Run.Run.Given = strings.Fields("locbench run --method=PUT --target=a=http://h:1/x --target=b=http://h:2/x")
	testenv.Equal(t, d.again(), "locbench run --method PUT --target a=http://h:1/x --target b=http://h:2/x")
	testenv.Equal(t, d.alone(d.Contenders[1]), "locbench run --method PUT --target b=http://h:2/x")
	d.Run.Run.Targets = d.Run.Run.Targets[:1]
	d.Run.Run.Given = strings.Fields("locbench run --target=http://h:1/x")
	testenv.Equal(t, d.alone(d.Contenders[0]), "locbench run --target http://h:1/x")
}

// A contender that was never started may not build; the folder of its service belongs to the command.
func TestCommand_Build(t *testing.T) {
	failed := benchtest.Trial("b:lto", 1)
	failed.State, failed.Failure = bench.TrialFailed, "build contender b: exit status 1"
	run := benchtest.Run(failed)
	run.Given = strings.Fields("locbench run --services=/home/me/svc --profile=orders")
	remedy := func() string { return Of(analysis.Of(run, []bench.TrialResult{failed}), nil).Problems[0].Remedy }
	testenv.Equal(t, remedy(), "see whether it builds: locbench run --services svc --profile orders b:lto --rounds 1 --connections 1 --duration 1s")
	failed.Instance = &bench.InstanceInfo{}
	testenv.Equal(t, remedy(), "see its log in the report")
}
