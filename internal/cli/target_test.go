package cli

import (
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/console"
)

// A wrong path costs a few requests instead of the load, and the run fails.
func TestTarget_WrongPath(t *testing.T) {
	mine := fileOf(t, "mine.yaml", "requests: [{path: /items/7}]\n"+twenty)
	for name, args := range map[string][]string{
		"an API without /":  {"/"},
		"another base path": {"/api", "--profile", mine},
	} {
		t.Run(name, func(t *testing.T) {
			s, requests := recorder(t, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/items/7" {
					http.NotFound(w, r)
				}
			})
			says(t, console.ExitContender,
				"not loaded: unexpected response to … status 2…, got 404 Not Found…404 page not found",
				into(outOf(t), append(args[1:], "--target", s.URL+args[0])...)...)
			testenv.Check(t, len(requests.lines()) <= 8, "%d requests", len(requests.lines()))
		})
	}
}

// locbench waits for a target that responds with 503 while it boots: no request of the load fails.
// It has not started, limited or stopped the target, does not know its responses, and says nothing
// else. The password in its address is in no output.
func TestTarget_Boots(t *testing.T) {
	var n atomic.Int64
	const password = "tr0ub4dor-and-3"
	s, requests := recorder(t, func(w http.ResponseWriter, r *http.Request) {
		if _, sent, _ := r.BasicAuth(); n.Add(1) <= 12 || sent != password {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	out := outOf(t)
	address := strings.Replace(s.URL, "://", "://me:"+password+"@", 1)
	text := says(t, 0, "runs target at ",
		into(out, "--target", address, "--profile", fileOf(t, "mine.yaml", "requests: [{path: /x}]\n"+twenty))...)
	run, trials := readResults(t, out)
	trial := trials[0]
	if trial.StartUp != nil || trial.Stop != nil || trial.Steps[0].Before != nil ||
		run.Profile.Limits != (bench.Limits{}) ||
		len(trial.Checks) > 0 || trial.Steps[0].Load.Checked > 0 || len(trial.Warnings) > 0 {
		t.Errorf("%+v under %+v", trial, run.Profile.Limits)
	}
	without(t, out, text, password)
	for name, text := range map[string]string{"text": text, results.SummaryFile: output(t, out, results.SummaryFile)} {
		lacks(t, name, text, "from process start", "LIMITS", "imits not enforced", "stopped ", "1.5 CPU", "512 MiB",
			"readings in between failed")
	}
	if l := trials[0].Steps[0].Load; l.FailedTotal() != 0 || l.AllSucceeded() != 20 || requests.of("/x") != 21 {
		t.Errorf("%d failed, %d succeeded, %d received", l.FailedTotal(), l.AllSucceeded(), requests.of("/x"))
	}
}

// tlsServer returns a server with its own certificate.
func tlsServer(t *testing.T) *httptest.Server {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // discards the expected failures of handshakes
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

// An untrusted certificate is an error with its remedies, each of which works and is recorded.
func TestTarget_Certificate(t *testing.T) {
	s := tlsServer(t)
	mine := fileOf(t, "mine.yaml", "requests: [{path: /x}]\n"+twenty)
	block := pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}
	own := fileOf(t, "own.pem", string(pem.EncodeToMemory(&block)))
	target := []string{"--target", s.URL}
	for name, c := range map[string]struct {
		args []string
		code int
		says string
		tls  bench.TLS
	}{
		"no option":  {target, console.ExitContender, "add its CA with --cacert FILE, or use --insecure", bench.TLS{}},
		"--insecure": {append(target, "--insecure"), 0, "", bench.TLS{Insecure: true}},
		"--cacert":   {append(target, "--cacert", own), 0, "", bench.TLS{CACert: own}},
		"http to its port": {[]string{"--target", strings.Replace(s.URL, "https", "http", 1)}, console.ExitContender,
			"speaks https, not http: use https://", bench.TLS{}},
	} {
		t.Run(name, func(t *testing.T) {
			out := outOf(t)
			says(t, c.code, c.says, into(out, append(c.args, "--profile", mine)...)...)
			if c.code != console.ExitOK || t.Failed() {
				return
			}
			run, trials := readResults(t, out)
			testenv.Equal(t, trials[0].Steps[0].Load.AllSucceeded(), 20)
			testenv.Equal(t, *run.TLS, c.tls)
			page := output(t, out, results.SummaryFile)
			testenv.Check(t, strings.Count(page, c.args[2]) >= 2, "summary.md does not say %s", c.args[2])
		})
	}
}

// A secret from the environment is in no file; a resumed run reads it again, and the command under
// "Repeat" runs.
func TestTarget_SecretsOfTheEnvironment(t *testing.T) {
	const secret = "hunter2-of-the-environment"
	s, requests := recorder(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/orders" && r.Header.Get("Authorization") != "Bearer "+secret {
			w.WriteHeader(http.StatusUnauthorized)
		}
	})
	mine := fileOf(t, "mine.yaml", `rounds: 2
requests:
  - {name: order, method: POST, path: /orders, header: {Authorization: "Bearer ${TOKEN}"}, body: '{"{{id}}": 7}'}
thresholds: ["throughput>900000000 stop=run"]
`+twenty)
	out, env := outOf(t), shell{"TOKEN": secret}
	args := into(out, "--profile", mine, "--target", "old="+s.URL)
	says(t, console.ExitUsage, `environment variable unset or empty: TOKEN (request "order")`, args...)
	env.says(t, console.ExitThreshold, "", args...)
	all := requests.lines()
	testenv.Need(t, !t.Failed() && len(all) >= 20, "requests %q", all)
	// The last request shows whether the target still responds.
	if !strings.HasSuffix(all[len(all)-2], secret+` {"{id}": 7}`) || !strings.HasPrefix(all[len(all)-1], "GET / ") {
		t.Errorf("last requests %q", all[len(all)-2:])
	}
	says(t, console.ExitUsage, "TOKEN", "run", "--headless", "--resume", out)
	without(t, out, env.says(t, console.ExitThreshold, "", "run", "--headless", "--resume", out), secret)

	_, repeat, _ := strings.Cut(output(t, out, results.SummaryFile), "## Repeat")
	command := regexp.MustCompile("(?s)```sh\nlocbench (run --profile mine.yaml [^\n]*)\n```").FindStringSubmatch(repeat)
	testenv.Need(t, command != nil && strings.Contains(repeat, "Set TOKEN in the environment"), "no command to repeat the run:\n%s", repeat)
	t.Chdir(filepath.Dir(mine))
	before := requests.of("/orders")
	env.says(t, console.ExitThreshold, "", append(words(command[1]), "-o", "again")...)
	n := requests.of("/orders") - before
	testenv.Check(t, n >= 20, "%s: %d requests", command[1], n)
}
