package cli

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/testenv"
)

// TestSecrets_Addresses uses passwords with characters that end an address.
func TestSecrets_Addresses(t *testing.T) {
	results := t.TempDir()
	for _, special := range []string{"#", "/", "?", " ", "%", "@", ":", "\\", "[", "\x7f"} {
		address := "http://elastic:hun" + special + "ter2word@10.0.0.5:9200"
		profile := fileOf(t, "p.yaml", fmt.Sprintf("requests: [{path: /}]\nneeds: {elasticsearch: {from: external, url: %q}}\nsteps: [{connections: 1, duration: 1s}]\n", address))
		for _, args := range [][]string{
			{"run", "--headless", "--target", address, "--out", filepath.Join(results, "x"), "--threshold", "fast"},
			{"run", "--headless", "--target", "a=" + address, "--target", "b=ftp://x"},
			{"run", "--headless", "--target", address + "#f", "--target", "b=ftp://x"},
			{"run", "--headless", "--elastic", address, "--profile", "nowhere"}, {"run", "--headless", "--elastic", address + "?q", "--cpus", "no"},
			{"run", "--headless", address},
			{"run", "--headless", "--profile", profile, "--cpus", "-1"}, {"profiles", "validate", profile}, {"profiles", "show", profile},
			{"services", "show", address}, {"check", address, "--suite", "nowhere.yaml"},
			{"seed", "--elastic", strings.Replace(address, "http", "ftp", 1)}, {"compare", address}, {address},
		} {
			lacks(t, strings.Join(args, " "), saying(t, args...), "ter2word", "hun"+special)
		}
	}
}

const secretManifest = `language: Go
framework: net/http
version: "1"
tags: [a]
env:
  DB_PASSWORD: env-secret-value
  DB_PW: pw-secret-value
  SETTINGS: '{"password":"json-secret-value"}'
  PEM: |
    bGluZS1vbmUtb2YtYS1rZXk
    bGluZS10d28tb2YtYS1rZXk
docker:
  dockerfile: Dockerfile
  args: {NPM_TOKEN: arg-secret-value, OPTIONS: "-Dpassword=option-secret-value"}
  command: [serve, --db-password, docker-secret-value]
process:
  build: [[sh, -c, "echo build with --api-key build-secret-value"]]
  command: [serve, --db-password, command-secret-value, -u, "me:user-secret-value", "Authorization: Bearer header-secret-value"]
variants:
  - {name: a, title: shows env-secret-value and command-secret-value, command: [serve, "--token=variant-secret-value"]}
`

// No command shows the secrets of a manifest, valid or not.
func TestSecrets_Manifest(t *testing.T) {
	dir := testenv.Folder(t, map[string]string{"mine/service.yaml": secretManifest, "mine/Dockerfile": "FROM scratch\n"})
	broken := testenv.Folder(t,
		map[string]string{"broken/service.yaml": "language: Go\nenv: {DB_PASSWORD: \"{{.Nothing}}broken-secret-value\", " +
			"PIN: [1]}\nport: x\nvariants: [{name: a, env: {A_TOKEN: \"{{broken-secret-value\"}}]\n"})
	shown := saying(t, "services", "show", "mine", "--services", dir)
	has(t, "show", shown, "DB_PASSWORD:…dockerfile: …framework: net/http…***")
	for name, text := range map[string]string{
		"show": shown, "list": saying(t, "services", "list", "--services", dir), "validate": saying(t, "services", "validate", dir),
		"complete":         saying(t, "__complete", "services", "show", "--services", dir, "mi"),
		"validate, broken": saying(t, "services", "validate", broken),
	} {
		lacks(t, name, text, "-secret", "bGluZS")
	}
}

// The secrets of a service that repeats what it gets, in the ways of several languages.
const (
	envSecret   = `S3cr3t-Pässword"x/7<&tail`
	cookieValue = "c00kie/value+of=ada-0123456789"
	otherCookie = "n0t-saved-cookie-zyxwvu"
	loginID     = "1d-of-the-login-abcdefghij"
	ofHeader    = `k3y"of/a<header`
	ofCookie    = "th3me&of+a=cookie"
	ofAddress   = `p4ss/of"an<address`
)

// newParrot responds to each request with its body and its headers, written in one way after another.
// It says what it got.
func newParrot(t *testing.T) (s *httptest.Server, got func() string) {
	var mu sync.Mutex
	var journal strings.Builder
	s = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		fmt.Fprintf(&journal, "%s %s %s %s %s\n", r.Method, r.URL, r.Header.Get("Authorization"), r.Header.Get("X-Sid"), body)
		mu.Unlock()
		var in struct{ P string }
		_ = json.Unmarshal(body, &in)
		said := otherCookie + in.P + r.Header.Get("Authorization") + r.Header.Get("X-Sid") + r.URL.Query().Get("c") +
			r.Header.Get("X-Api-Key") + r.Header.Get("Cookie")
		if _, password, ok := r.BasicAuth(); ok {
			said += password
		}
		quoted, _ := json.Marshal(said)
		twice, _ := json.Marshal(string(quoted))
		switch r.URL.Path {
		case "/login":
			w.Header().Set("Set-Cookie", "sid="+cookieValue+"; Path=/")
			w.Header().Add("Set-Cookie", "other="+otherCookie)
			fmt.Fprintf(w, `{"id":%q}`, loginID)
		case "/go":
			w.Write(quoted)
		case "/python":
			fmt.Fprintf(w, `{"m": "%s"}`, strings.NewReplacer(`\u003c`, "<", `\u0026`, "&", "ä", `\u00e4`).Replace(string(quoted[1:len(quoted)-1])))
		case "/php":
			fmt.Fprintf(w, `{"m": "%s"}`, strings.NewReplacer("/", `\/`, "ä", `\u00e4`).Replace(string(quoted[1:len(quoted)-1])))
		case "/twice":
			w.Write(twice)
		case "/html":
			io.WriteString(w, html.EscapeString(said))
		case "/url":
			io.WriteString(w, regexp.MustCompile("%..").ReplaceAllStringFunc(url.QueryEscape(said), strings.ToLower)+" "+url.QueryEscape(url.QueryEscape(said)))
		case "/base64":
			io.WriteString(w, base64.StdEncoding.EncodeToString([]byte("user:"+said)))
		default: // across the place where it is cut
			io.WriteString(w, strings.Repeat("x", 90)+said)
		}
	}))
	t.Cleanup(s.Close)
	return s, func() string { mu.Lock(); defer mu.Unlock(); return journal.String() }
}

// TestSecrets_Forms: neither try nor a run shows or keeps a secret, by whichever door it came in, in
// whichever way it is sent and comes back, in any of its outputs.
func TestSecrets_Forms(t *testing.T) {
	s, journal := newParrot(t)
	env := shell{"MYSECRET": envSecret}
	requests, teardown := "requests:\n", "teardown:\n"
	for _, way := range []string{"go", "python", "php", "twice", "html", "url", "base64", "cut"} {
		requests += `  - {post: "/` + way + `?c={sid}", json: {p: "${MYSECRET}"}}` + "\n"
		teardown += `  - {name: end ` + way + `, post: "/` + way +
			`", json: {p: "${MYSECRET}"}, expect: {status: 201}}` + "\n" +
			`  - {name: address ` + way + `, post: "/` + way + `", header: {Authorization: none}, expect: {status: 201}}` + "\n"
	}
	profile := fileOf(t, "p.yaml", `header: {Authorization: "Bearer {uid}", X-Sid: "{sid}", X-Api-Key: '`+ofHeader+`', Cookie: '`+ofCookie+`'}
setup: [{post: /login, save: {uid: id, sid: {cookie: sid}}, header: {Authorization: none, X-Sid: none}}]
rounds: 1
`+requests+teardown+strings.Replace(twenty, "20", "40", 1))
	target := strings.Replace(s.URL, "://", "://"+url.UserPassword("me", ofAddress).String()+"@", 1)
	text := env.says(t, 0, "", "try", profile, "--target", "a="+target)
	testenv.Equal(t, strings.Count(text, "FAILED: expected status 201, got 200 OK"), 16)
	out, again := outOf(t), outOf(t)
	free := testenv.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	testenv.OK(t, free.Close())
	metrics, ended := make(chan string, 1), make(chan bool)
	go func() {
		last := ""
		for {
			if resp, err := http.Get("http://" + free.Addr().String() + "/metrics"); err == nil {
				text, _ := io.ReadAll(resp.Body)
				resp.Body.Close()
				last = string(text)
			}
			select {
			case <-ended:
				metrics <- last
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	}()
	ran := env.says(t, 0, "", into(out, "--profile", profile, "--target", "a="+target, "--metrics-listen", free.Addr().String())...)
	close(ended)
	texts := outputs(t, out)
	texts["try"], texts["run"], texts["metrics"] = text, ran, <-metrics
	testenv.Contains(t, texts["metrics"], "locbench_")
	texts["events"] = env.says(t, 0, "", "run", "--json", "-o", again, "--profile", profile, "--target", "a="+target)
	for _, args := range [][]string{
		{"report", out, "--format", "md"}, {"report", out, "--format", "csv"}, {"report", out, "--format", "json"},
		{"export", out, "--format", "csv", "-o", out + "-csv"}, {"export", out, "--format", "json", "-o", out + "-json"},
		{"compare", out, again}, {"compare", out, again, "--format", "json"}, {"history", filepath.Dir(out)}, {"profiles", "show", profile},
	} {
		texts[strings.Join(args, " ")] = says(t, 0, "", args...)
	}
	for _, dir := range []string{"-csv", "-json"} {
		testenv.OK(t, filepath.WalkDir(out+dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				texts[path] = string(testenv.Must(os.ReadFile(path))(t))
			}
			return err
		}))
	}
	texts["dashboard"] = shown(t, out)
	has(t, "summary.md", texts["summary.md"], "teardown")
	testenv.Check(t, len(texts) >= 20, "%d outputs", len(texts))
	histogram := regexp.MustCompile(`"hdr": ?"[^"]*"`) // base64, in which anything may appear
	for name, text := range texts {
		lacks(t, name, histogram.ReplaceAllString(text, ""), "S3cr", "ssword", "c00k", "value+of", "ada-0", "n0t-", "zyxwvu", "1d-of",
			"login-abc", "abcdefghij", "UzNjcjN0", "c3N3b3Jk", "k3y", "a<header", "a\\u003cheader", "th3me", "a=cookie", "p4ss", "an<addr", "cDRzcy9v")
	}
	has(t, "the journal of the service", journal(), `ssword\"x/7<&tail"}…Bearer `+loginID+"…"+cookieValue)
}

// A profile in bench/ with a file elsewhere runs with the option that its mistake names, in each
// command, and is not asked for it when the run is resumed.
func TestAllowFiles(t *testing.T) {
	s, journal := newParrot(t)
	dir := t.TempDir()
	suite := filepath.Join(dir, "bench/suite.yaml")
	testenv.OK(t, os.CopyFS(dir, os.DirFS(testenv.Folder(t, map[string]string{
		"bench/p.yaml": "requests: [{post: /go, file: ../data/body.json, expect: {schema: ../data/s.json}}]\n" + twenty +
			"checks: {suites: [" + suite + "]}\n",
		"data/body.json": `{"p":"the body"}`, "data/s.json": `{"type":"string"}`,
		"bench/suite.yaml": "suite: s\ngroups: {g: [{name: c, request: POST /go, expect: {status: 200, schema: ../data/s.json}}]}\n",
	}))))
	t.Chdir(dir)
	commands := [][]string{
		{"profiles", "validate", "bench/p.yaml"}, {"profiles", "show", "bench/p.yaml"}, {"check", s.URL, "--suite", "bench/suite.yaml"},
		{"try", "bench/p.yaml", "--target", "a=" + s.URL}, into("out", "--profile", "bench/p.yaml", "--target", "a="+s.URL),
	}
	for _, args := range commands {
		says(t, 2, "yaml:…--allow-files data", args...)
		testenv.Equal(t, journal(), "", args)
	}
	for _, args := range commands {
		says(t, 0, "", append(args, "--allow-files", "data")...)
	}
	has(t, "the journal", journal(), `{"p":"the body"}`)
	has(t, "run.json", output(t, "out", "run.json"), `"allow_files"`)
	says(t, 2, "nothing to resume", "run", "--resume", "out", "--allow-files", "data") // needs may use files there
}
