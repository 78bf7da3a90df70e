package cli

import (
	"bytes"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/console"
	"github.com/locbench/locbench/internal/text/fit"
)

func noWider(t *testing.T, text string, width int) {
	t.Helper()
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		testenv.Check(t, fit.Width(line) <= width, "%d columns: %s", fit.Width(line), line)
	}
}

// The help of each command has examples, and fits what is piped, but for examples and lines that are indented: its
// paragraphs are wrapped, and the columns of its flags.
func TestHelp_FitsItsWidth(t *testing.T) {
	var every func(cmd *cobra.Command)
	every = func(cmd *cobra.Command) {
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() {
				every(c)
			}
		}
		text := saying(t, append(strings.Fields(cmd.CommandPath())[1:], "--help")...)
		if !cmd.HasParent() || cmd.Parent().Name() != "completion" {
			testenv.Check(t, regexp.MustCompile(`\nExamples?:\n`).MatchString(text), "%s has no examples", cmd.CommandPath())
		}
		before, after, _ := strings.Cut(text, "\nExamples:\n")
		_, flags, _ := strings.Cut(after, "\nFlags:\n")
		noWider(t, regexp.MustCompile(`(?m)^ .*$`).ReplaceAllString(before, "")+flags, 80)
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			testenv.Check(t, f.Hidden || strings.Contains(text, " --"+f.Name+" "), "%s: no --%s", cmd.CommandPath(), f.Name)
		})
	}
	every(newRoot(Env{Getenv: func(string) string { return "" }}))
}

// What is piped has 80 columns.
func TestListings_Fit80Columns(t *testing.T) {
	t.Setenv("DOCKER_HOST", "unix:///nonexistent/docker.sock")
	for _, args := range []string{"services list", "profiles list", "doctor"} {
		t.Run(args, func(t *testing.T) {
			var out, stderr bytes.Buffer
			env := Env{Args: strings.Fields(args), Stdin: strings.NewReader(""), Stdout: &out, Stderr: &stderr,
				Getenv: func(string) string { return "" }}
			testenv.Equal(t, command(t.Context(), env), 0, stderr.String())
			noWider(t, out.String(), 80)
		})
	}
}

// TestValidate: one command checks profiles and manifests, with what each has of the other.
func TestValidate(t *testing.T) {
	const profile = "contenders: [goes]\nservices: svc\nrequests: [{get: /}]\nsteps: [1]\n"
	t.Chdir(testenv.Folder(t, map[string]string{
		"p.yaml":                  profile,
		"svc/goes/service.yaml":   "docker: {image: 'a:1'}\nneeds: {db: {image: 'b:1', environment: {PASSWORD: '${PGPASSWORD}'}}}\n",
		"typo.yaml":               strings.Replace(profile, "steps", "stpes", 1),
		"unknown.yaml":            strings.Replace(profile, "goes", "node", 1),
		"missing.yaml":            strings.Replace(profile, "svc", "other", 1),
		"named.yaml":              "needs: {postgres: {image: 'b:1'}}\n" + strings.Replace(profile, "svc", "named", 1),
		"named/goes/service.yaml": "docker: {image: 'a:1'}\nenv: {URL: '{{.Needs.db.URL}}'}\n",
		"broken/service.yaml":     "name: x\nport: none\n",
		"compose.yaml":            "services: {db: {image: 'b:1'}}\nrequests: [{get: /}]\nsteps: [1]\n",
	}))
	says(t, 0, "p.yaml: ok: goes; rounds: 1;…sent from the environment: PGPASSWORD…svc/goes: ok: goes", "validate", "p.yaml", "svc")
	says(t, 0, "ok: goes", "validate", "svc/goes/service.yaml")
	for file, want := range map[string]string{
		"typo.yaml":           "typo.yaml:4: unknown key `stpes`",
		"unknown.yaml":        `/svc, and not bundled`,
		"missing.yaml":        "/other with contenders",
		"named.yaml":          `uses {{.Needs.db.URL}}, but the profile has no need "db"; its needs: postgres`,
		"broken":              "broken/service.yaml:2: ",
		"broken/service.yaml": "broken/service.yaml:2: ",
		"compose.yaml":        "compose.yaml:1: `services` is a map; write the folder with the contenders; services that they need, such as a database, are in `needs`",
		"none.yaml":           "unknown profile: no file none.yaml",
		"p":                   `unknown profile "p"; did you mean the file p.yaml?`,
	} {
		says(t, 2, want, "validate", file)
	}
	says(t, 2, "typo.yaml:4: …broken/service.yaml:2: ", "validate", "typo.yaml", "broken")
}

// TestManifestNeeds: commands that read manifests and profiles know the needs of both, and mask
// their passwords.
func TestManifestNeeds(t *testing.T) {
	const profile = "contenders: [goes, node]\nservices: svc\nrequests: [{get: /}]\nsteps: [1]\n"
	own := "docker: {image: 'a:1'}\nneeds: {db: {image: 'postgres:17', command: [postgres, -c, fsync=off]}}\n"
	dir := testenv.Folder(t, map[string]string{"p.yaml": profile, "svc/goes/service.yaml": own, "svc/node/service.yaml": own,
		"other/goes/service.yaml": "docker: {image: 'a:1'}\nneeds: {db: {image: 'postgres:17', environment: {POSTGRES_PASSWORD: hunter22}, hostname: hunter22}}\n",
		"other/node/service.yaml": "docker: {image: 'a:1'}\nneeds: {db: {image: 'postgres:17', environment: {POSTGRES_PASSWORD: hunter33}, hostname: hunter22}}\n",
		"other/p.yaml":            "contenders: [goes]\nservices: .\nrequests: [{get: /}]\nsteps: [1]\n",
		"other/both.yaml":         "contenders: [goes, node]\nservices: .\nrequests: [{get: /}]\nsteps: [1]\n"})
	t.Chdir(dir)
	says(t, 0, `fsync=off…"manifest": true…fsync=off…"manifest": true`, "profiles", "show", "p.yaml", "--json")
	shown := says(t, 0, `"POSTGRES_PASSWORD": "***"`, "profiles", "show", "other/p.yaml", "--json")
	shown += says(t, 0, `"POSTGRES_PASSWORD": "***"…"POSTGRES_PASSWORD": "***"`, "profiles", "show", "other/both.yaml", "--json")
	shown += says(t, 0, "needs: {db…***", "services", "show", "goes", "--services", "other")
	lacks(t, "output", shown, "hunter")
}

// oddService is a service of odd responses.
func oddService(t *testing.T) (url string, requests *requestLog) {
	s, l := recorder(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/signin":
			w.Header()["Set-Cookie"] = []string{"sid=abc123; Path=/; HttpOnly; SameSite=Lax", "lang=en; Max-Age=60; x=y", "gone=; Path=/"}
		case "/limited":
			w.WriteHeader(http.StatusTooManyRequests)
		case "/old":
			http.Redirect(w, r, "/items/8", http.StatusMovedPermanently)
		case "/broken":
			w.WriteHeader(http.StatusInternalServerError)
		}
	})
	return s.URL, l
}

const oddProfile = `setup: [{name: sign in, post: /signin, save: {sid: {cookie: sid}}}]
header: {Cookie: "sid={sid}; theme=dark"}
requests:
  - {name: item, get: /items/7}
  - {name: limited, get: /limited, expect: {status: [200, 429]}}
  - {name: full, get: /limited, expect: {status: 429}}
sessions:
  - {name: cart, requests: [{name: make, post: /carts}, {name: fill, put: /carts/7}]}
` + twenty

// Everything that is sent is shown, with the responses, each redirect that is followed, and the
// reason of what is unexpected or was not sent. Values of cookies are secret.
func TestTry_Exchanges(t *testing.T) {
	at, requests := oddService(t)
	text := says(t, 0, "a: setup: sign in\n…→ POST /signin…← HTTP 200\n…as expected\n…a: full\n…← HTTP 429…session \"cart\": fill\n…a: all as expected\n…"+
		"b: all as expected\n", "try", fileOf(t, "odd.yaml", oddProfile), "--target", "a="+at, "--target", "b="+at)
	lacks(t, "try", text, "abc123", "=dark", "=en")
	var sent []string
	for _, line := range requests.lines() {
		if words := strings.Fields(line); words[1] != "/" {
			sent = append(sent, words[0]+" "+words[1])
		}
	}
	const one = "POST /signin, GET /items/7, GET /limited, GET /limited, POST /carts, PUT /carts/7"
	testenv.Equal(t, strings.Join(sent, ", "), one+", "+one)

	codes := fileOf(t, "codes.csv", "code\nA1\n")
	once := "variables: {code: {file: " + codes + ", column: code, draw: once}}\n"
	for name, c := range map[string]struct{ profile, want string }{
		"no value left": {once + "requests: [{name: first, get: '/items/{code}'}, {name: second, get: '/items/{code}'}]\n",
			"target: second\n  FAILED: not sent: request \"second\": variable \"code\" has no value left: all 1 were taken…" +
				"target: failed: unexpected response: \"second\""},
		"two statuses": {"requests: [{name: x, get: /broken}, {name: y, get: /items/1}, {name: z, get: /limited}]\n",
			"target: x\n…FAILED: expected status 200, got 500 Internal Server Error\n…as expected\n…FAILED: expected status 200, got 429"},
		"setup":   {"setup: [{name: x, get: /broken}]\nrequests: [{name: y, get: /items/1}]\n", "setup: x\n…FAILED: expected status 200, got 500"},
		"session": {"sessions: [{name: s, requests: [{name: x, get: /broken}]}]\n", "session \"s\": x\n…FAILED: expected status 200, got 500"},
		"a redirect": {"requests: [{name: r, get: /old}]\n",
			"FAILED: expected status 200, got 301 Moved Permanently (Location: /items/8; `follow: true` follows it)"},
	} {
		t.Run(name, func(t *testing.T) {
			says(t, console.ExitContender, c.want, "try", fileOf(t, "odd.yaml", c.profile+twenty), "--target", at, "--allow-files", filepath.Dir(codes))
		})
	}
	says(t, console.ExitContender, "target: failed: …speaks https, not http", "try", fileOf(t, "odd.yaml", oddProfile),
		"--target", "http://"+tlsServer(t).Listener.Addr().String())
	followed := fileOf(t, "odd.yaml", "requests: [{name: r, get: /old, follow: true}]\n"+twenty)
	says(t, 0, "a redirect, followed\n…GET /items/8", "try", followed, "--target", at)
}
