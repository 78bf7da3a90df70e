package secret

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// secretNames are typical names in environments, headers and options.
var secretNames = []string{
	"DB_PASSWORD", "password", "PGPASSWORD", "mysqlPassword", "passwd", "DB_PASS", "smtp-pass", "PASS", "--password", "PASSPHRASE", "SSH_KEY_PASSPHRASE",
	"MYSQL_PWD", "DB_PWD", "pwd-of-db-PWD", "MYSQLPWD", "DbPwd",
	"API_TOKEN", "GITHUBTOKEN", "accessToken", "TOKENS", "SAS_TOKEN_1", "JWT", "ID_JWT", "BEARER",
	"AWS_SECRET_ACCESS_KEY", "X-Api-Key", "APIKEY", "apiKey", "SSH_PRIVATE_KEY", "STRIPE_KEY", "ACCOUNTKEY", "JWKS_KEYS", "KEY", "GPG_PRIVATE", "TLS_PEM",
	"AWS_CREDS", "CRED", "GOOGLE_APPLICATION_CREDENTIALS", "credentials",
	"REDISCLI_AUTH", "BASIC_AUTH", "X-Auth", "NPM_AUTH", "_auth", "_authToken", "DOCKER_AUTH_CONFIG", "httpAuth", "PROXYAUTH", "AUTH", "Authorization", "Proxy-Authorization", "AUTH_HEADER",
	"Cookie", "Set-Cookie", "DB_DSN", "SENTRY_DSN", "dsn", "SIGNATURE", "X-Hub-Signature-256", "sig", "SESSION_SALT", "OTP",
	"CONNECTION_STRING", "AzureWebJobs_ConnectionString", "ConnectionStrings__Default", "DB_CONN_STR", "CONNSTRING", "WEBHOOK_SECRETS", "clientSecret",
	"DB_PW", "DBPW", "dbPw", "PASSCODE", "PIN", "CARD_PIN", "SLACK_WEBHOOK", "WEBHOOK_URL", "SESSION_ID", "sessionId", "sessionid", "JSESSIONID",
	"GITHUB_PAT",
}

// innocentNames look like secret names.
var innocentNames = []string{
	"PATH", "PWD", "OLDPWD", "ELASTIC_URL", "GOMAXPROCS", "BYPASS_CACHE", "COMPASS", "AUTHOR", "AUTHORS", "GIT_AUTHOR_NAME", "AUTHORITY", "OIDC_AUTHORITY", "AUTH_ENABLED", "AUTH_URL", "AUTH_MODE", "OAUTH_URL",
	"KEYBOARD", "KEYBOARD_LAYOUT", "KEYSPACE", "KEYWORD", "MONKEY", "TURKEY", "HOCKEY", "TOKENIZER", "TOKENIZERS_PARALLELISM", "SECRETARY", "CREDIT_LIMIT", "INCREDIBLE", "PRIVATE_NETWORK", "PRIVATE_IP",
	"SIGNAL", "SIGTERM_GRACE", "DESIGN", "PASSENGERS", "PASSIVE", "PASSTHROUGH", "CONNECTION_LIMIT", "CONNECTIONS", "STRING", "COOKIECUTTER", "PERMANENT", "SALTWATER", "DSNOWBALL", "Accept", "Content-Type", "",
	"PINNED", "SPIN", "COMPAT", "PATH", "PATTERN", "PAT", "PINGS", "CPU_PIN", "SESSION", "SESSION_TIMEOUT", "WEBHOOK_TIMEOUT", "PWM", "UPWARD", "IDS",
	"MYSQL_ALLOW_EMPTY_PASSWORD", "MARIADB_ALLOW_EMPTY_ROOT_PASSWORD", "MARIADB_RANDOM_ROOT_PASSWORD",
}

func TestName(t *testing.T) {
	for _, name := range secretNames {
		testenv.Check(t, Name(name), "%s is secret", name)
	}
	for _, name := range innocentNames {
		testenv.Check(t, !Name(name), "%s is not secret", name)
	}
}

// FuzzName: a secret name stays secret after other words, and its case does not matter if
// words are separated by more than case.
func FuzzName(f *testing.F) {
	for _, name := range append(secretNames, innocentNames...) {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		for _, word := range []string{"_PASSWORD", "-Token", ".api-key", "_MYSQL_PWD", "_AUTH", "_DSN"} {
			testenv.Check(t, Name(name+word), "%q is not secret", name+word)
		}
		if lower, upper := strings.ToLower(name), strings.ToUpper(name); Name(lower) != Name(upper) && strings.EqualFold(lower, upper) && strings.ToUpper(lower) == upper {
			t.Errorf("%q is secret only in one case", name)
		}
	})
}

// TestText: of a text known values are masked, and the users of addresses. It is not searched for others.
func TestText(t *testing.T) {
	m := New("hunter2 & co", "tiny")
	for in, want := range map[string]string{
		"":                               "",
		"nothing here":                   "nothing here",
		"login failed for hunter2 & co!": "login failed for ***!",
		"?p=hunter2+%26+co":              "?p=***",
		"http://me:hunter2%20&%20co@h/":  "http://***@h/",
		"of aHVudGVyMiAmIGNv":            "of ***",
		"tiny":                           "tiny", // known, but too short to look for
		"get http://elastic:changeme@10.0.0.5:9200/city: refused":        "get http://***@10.0.0.5:9200/city: refused",
		"https://token@example.org https://a:b@c":                        "https://***@example.org https://***@c",
		"mail a@b.example, http://h/@handle":                             "mail a@b.example, http://h/@handle",
		"http://h/\nUser: x@y":                                           "http://h/\nUser: x@y",
		"password: X, token=Y, Bearer eyJhbGciOi.eyJzdWIi, PASSWORD 'Z'": "",
	} {
		testenv.Equal(t, m.Text(in), cmp.Or(want, in))
	}
}

// TestKeyed has texts in which values have names, and texts that only seem to.
func TestKeyed(t *testing.T) {
	for in, want := range map[string]string{
		"http://h/?id=1&access_token=abc&x=2":                "http://h/?id=1&access_token=***&x=2",
		"dial http://u:p/a?s#s@w@h:9200/x: no":               "dial http://***@h:9200/x: no",
		"dial http://u:p a@h:9200/x: no":                     "dial http://***@h:9200/x: no",
		"GET /a?auth=abc&pwd=def#access_token=ghi":           "GET /a?auth=***&pwd=***#access_token=***",
		"Server=db;Uid=sa;Pwd=s3cret;Database=x":             "Server=db;Uid=sa;Pwd=***;Database=x",
		"Endpoint=sb://h/;SharedAccessKey=abc=;EntityPath=q": "Endpoint=sb://h/;SharedAccessKey=***;EntityPath=q",
		"root:secret@tcp(10.0.0.5:3306)/cities":              "***@tcp(10.0.0.5:3306)/cities",
		"open root:s3:c@ret@tcp(db)/x: refused":              "open ***@tcp(db)/x: refused",
		"DSN=root:secret@unix(/run/mysqld.sock)/x":           "DSN=***",
		"host=db user=u password=s3cret dbname=x":            "host=db user=u password=*** dbname=x",
		"password='a b' key=7":                               "password='***' key=7",
		"sasl.jaas.config=x password=\"a b\";":               "sasl.jaas.config=x password=\"***\";",
		":s3cret@redis:6379":                                 "***@redis:6379",
		"elastic:changeme@10.0.0.5:9200 refused":             "***@10.0.0.5:9200 refused",
		`dial "u:p@localhost"`:                               `dial "***@localhost"`,
		"u:p@[::1]:6379":                                     "***@[::1]:6379",
		"jdbc:oracle:thin:scott/tiger@db:1521:orcl":          "***@db:1521:orcl",
		"scott/tiger@//db:1521/orcl":                         "***@//db:1521/orcl",
		"Authorization: Bearer abc":                          "Authorization: Bearer ***",
		"curl -H 'Authorization: Bearer abc' x":              "curl -H 'Authorization: Bearer ***' x",
		"Cookie: a=1; b=2\nAccept: x":                        "Cookie: ***\nAccept: x",
		"X-Custom: Bearer abc":                               "X-Custom: Bearer ***",
		`{"password":"X","user":"me"}`:                       `{"password":"***","user":"me"}`,
		`{"password": "a\"b", "n": 1}`:                       `{"password": "***", "n": 1}`,
		`{\"password\":\"X\",\"user\":\"me\"}`:               `{\"password\":\"***\",\"user\":\"me\"}`,
		`{'api_key': 'X', 'user': 'me'}`:                     `{'api_key': '***', 'user': 'me'}`,
		`{"pin":1234,"x":"y"}`:                               `{"pin":***,"x":"y"}`,
		`{"tokens":["abc","def"],"x":1}`:                     `{"tokens":["***","***"],"x":1}`,
		`{"tokens":["a\\","]\"]",1],"x":1}`:                  `{"tokens":["***","***",***],"x":1}`,
		"tokens = [\n\"a\",\n'b']\nx = [\"c\"]":              "tokens = [\n\"***\",\n'***']\nx = [\"c\"]",
		`{"credentials":{"user":"a","pwd":"b"}}`:             `{"credentials":{"user":"a","pwd":"***"}}`,
		"password: X":                                        "password: ***",
		"  - password: correct horse\n  user: me":            "  - password: ***\n  user: me",
		"login with password: X failed":                      "login with password: *** failed",
		`"password" => "X", "a" => 1`:                        `"password" => "***", "a" => 1`,
		"+ serve --db-password X --port 80":                  "+ serve --db-password *** --port 80",
		"curl -u me:X http://h":                              "curl -u *** http://h",
		"/a?pw=X&sessionid=Y&PHPSESSID=Z&page=2":             "/a?pw=***&sessionid=***&PHPSESSID=***&page=2",
		"-Djavax.net.ssl.keyStorePassword=X -Dx":             "-Djavax.net.ssl.keyStorePassword=*** -Dx",
		"http://user:passwort@host:9200":                     "http://***@host:9200",
		"{cookie: sid=abcdef}":                               "{cookie: ***}",
		"{token: abc.def, id: 3}":                            "{token: ***, id: 3}",
		"{password: mysecretpassword}":                       "{password: ***}",
		`{"cookie": "abcdef", "token": "DATA"}`:              `{"cookie": "***", "token": "***"}`,
		"token={8F-AB1}":                                     "token=***",
	} {
		got := Masker{}.Keyed(in)
		testenv.Equal(t, got, want, in)
		testenv.Equal(t, Masker{}.Keyed(got), got, "once more")
	}
	for _, in := range []string{
		"/search?keyword=bern&key=7", "http://h:8080/@handle and http://h:8080 x@y",
		"/search?author=x&tokenizer=standard&sort_key=id", "postgres:15@sha256:0123456789abcdef",
		"npm:express@4.18.2 and actions/checkout@v4", "git@github.com:tsenart/vegeta",
		`{"author":"bob@example.com","at":"12:30:01@home"}`, `{"tokens":[],"jwt":[null],"keys":["a"]`,
		"docker run --user 1000:1000 x", "Basic authentication: required", "the bearer token is missing",
		"error: Basic auth failed", "pinned to CPU 1; PATH: /bin; spin=1", "compat: true, pattern: x, session: 5",
		"with password: true, token: null", "auth://host/x",
		"one of `{json: PATH}`, `{header: NAME}`, `{cookie: NAME}`, `{regex: PATTERN}`",
		"save: {sid: {cookie: sid}, csrf: {cookie: csrf_token}}",
		"write `{token: data.access_token, id: {header: X-Id}}`",
		`{post: /login, json: {user: ada, password: "${PASSWORD}"}, save: {token: token}}`,
		"/x?p={password:raw}&q={token:raw}/{token:number}", `Authorization: "Bearer {token}"`, "PASSWORD=… locbench run",
		"http://user:password@host:9200 or http://${U}:${P}@host:9200/x",
	} {
		testenv.Equal(t, Masker{}.Keyed(in), in)
	}
}

// TestQuotedValues: a known value is found in the form that JSON and a quoted text give it.
func TestQuotedValues(t *testing.T) {
	const value = "p<ss&\"w\\rd\n\u00e9"
	inJSON := testenv.Must(json.Marshal(value))(t)
	for _, in := range []string{value, string(inJSON), strconv.Quote(value), strconv.Quote(string(inJSON))} {
		testenv.Contains(t, New(value).Text("$.x: expected 5, got "+in), Mask, "!ss")
	}
	// The excerpt of a response that is not JSON.
	testenv.Equal(t, New().Keyed(`expected JSON, got "{\"password\":\"abcdef\",\"b\":1"`), `expected JSON, got "{\"password\":\"***\",\"b\":1"`)
}

func TestArgs(t *testing.T) {
	got := Masker{}.Args([]string{"locbench", "--elastic", "http://u:p@h", "--password", "x1", "--token=x2", "-o", "dir", "DB_PASSWORD=x3", "--api-key", "--other", "http://h/?token=x4", "--empty-token=", "--secret"})
	want := []string{"locbench", "--elastic", "http://***@h", "--password", Mask, "--token=***", "-o", "dir", "DB_PASSWORD=***", "--api-key", "--other", "http://h/?token=***", "--empty-token=", "--secret"}
	testenv.Equal(t, got, want)
}

const (
	known = "s3cr3t-of-the-store"
	other = "bearer-of-good-news"
)

func run() bench.Run {
	return bench.Run{
		ID: "20261121-080000", Targets: []bench.Target{{Name: "target", URL: "http://me:" + known + "@127.0.0.1:8080"}},
		Command: []string{"locbench", "run", "--elastic", "http://elastic:" + known + "@10.0.0.5:9200"},
		Profile: bench.Profile{
			Needs:    []bench.NeedSpec{{URL: "http://elastic:" + known + "@10.0.0.5:9200"}},
			Requests: []bench.Request{{Name: "city", Path: "/city?id={id}", Header: map[string]string{"Authorization": "Bearer " + other, "Accept": "application/json"}}},
		},
		Trials:  []bench.TrialEntry{{Trial: bench.Trial{Contender: known, Round: 1}, File: known + "-1.json"}},
		Started: time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC),
	}
}

func service() bench.Service {
	return bench.Service{
		Name: "x", Env: map[string]string{"DB_PASSWORD": "password-of-the-db", "ELASTIC_PASSWORD": "{{.Elastic.Password}}", "GREETING": "hello", "DB_URL": "pg://app:pw-in-a-url@db/x", "MYSQL_ADDRESS": "root:pw-without-scheme@tcp(db:3306)/x", "HTTP_AUTH": "disabled", "IMAGE": "postgres:15.1-bullseye@sha256:0123456789"},
		Ready:    bench.Ready{Header: map[string]string{"Authorization": "Bearer token-of-readiness"}},
		Docker:   &bench.DockerRecipe{Args: map[string]string{"NPM_TOKEN": "npm-token-value"}, Command: []string{"serve", "--api-key", "value-of-the-key"}},
		Variants: []bench.Variant{{Name: "v", Env: map[string]string{"SESSION_SECRET": "session-secret"}}},
	}
}

var all = []string{known, other, "password-of-the-db", "pw-in-a-url", "pw-without-scheme", "npm-token-value", "token-of-readiness", "session-secret", "value-of-the-key"}

func TestOf(t *testing.T) {
	values := Of(run(), []bench.Service{service()})
	for _, v := range all[:len(all)-1] { // the last is masked by its place
		testenv.Check(t, slices.Contains(values, v), "%s is not among %q", v, values)
	}
	if slices.ContainsFunc(values, func(v string) bool {
		return strings.Contains(v, "{{") || v == "hello" || v == "application/json" || v == "disabled" || strings.HasPrefix(v, "15.1")
	}) {
		t.Errorf("%q", values)
	}
}

// TestEveryEvent puts a secret into every text of every event. None may be shown.
func TestEveryEvent(t *testing.T) {
	m := New(Of(run(), []bench.Service{service()})...)
	line := bench.LogLine{Stream: "stdout", Text: "connecting with " + known}
	res := bench.StepResult{
		Step: bench.Step{Name: "1 connection"}, Warnings: bench.Warnings{{Text: known}}, Aborted: "because " + known,
		Load: bench.Load{Warnings: bench.Warnings{{Text: known}}, Outcomes: bench.Outcomes{Examples: map[bench.ErrorKind]string{bench.ErrOther: "dial http://u:" + known + "@h"}}, Latency: bench.Latencies{HDR: "HISTFAAA" + known}},
	}
	for _, e := range []bench.Event{
		bench.RunStarted{Run: run(), Dir: "results/x"}, bench.TrialStarted{Service: service(), Artifact: bench.Artifact{Command: []string{"x", "--token", other}}},
		bench.PhaseEnded{Note: known, Err: known}, bench.PhaseStarted{Note: known}, bench.Progress{Text: known}, bench.Notice{Text: known}, bench.LogLines{Lines: []bench.LogLine{line}},
		bench.CheckDone{Check: bench.CheckResult{Detail: known, Value: known, Request: "GET /?token=" + other}}, bench.StepEnded{Result: res},
		bench.TrialEnded{Failure: known, LastLog: []bench.LogLine{line}}, bench.RunEnded{Err: known}, bench.InstanceStarted{Info: bench.InstanceInfo{LimitsNote: known}},
		bench.Prepared{Needs: []bench.NeedInfo{{URL: "http://u:" + known + "@h"}}},
	} {
		before, _ := json.Marshal(e)
		got := testenv.Must(json.Marshal(m.Event(e)))(t)
		text := strings.ReplaceAll(string(got), "HISTFAAA"+known, "") // histograms are not text
		text = strings.NewReplacer(`"contender":"`+known, "", `"file":"`+known, "").Replace(text)
		for _, v := range all {
			testenv.Contains(t, text, "!"+v)
		}
		after, _ := json.Marshal(e)
		testenv.Check(t, string(after) == string(before), "%T: the original was changed", e)
	}
	got := m.Event(bench.StepEnded{Result: res}).(bench.StepEnded).Result
	testenv.Check(t, got.Load.Latency.HDR == res.Load.Latency.HDR && got.Step.Name == "1 connection", "%+v", got)
	masked := m.Run(run())
	if masked.Trials[0] != run().Trials[0] || !masked.Started.Equal(run().Started) || masked.Profile.Requests[0].Header["Accept"] != "application/json" || masked.Profile.Requests[0].Path != "/city?id={id}" {
		t.Errorf("%+v", masked)
	}
	testenv.Check(t, m.Event(nil) == nil, "of nothing")
}

// TestNothingElseIsChanged: an event without secrets does not change.
func TestNothingElseIsChanged(t *testing.T) {
	full := 3 * time.Second
	e := bench.StepEnded{Result: bench.StepResult{
		Index: 2, Before: &bench.Usage{CPU: 5, CPUUser: &full}, Samples: []bench.Usage{{Source: "cgroup v2"}}, Load: bench.Load{Outcomes: bench.Outcomes{Failed: map[bench.ErrorKind]int64{bench.ErrTimeout: 3}}, Windows: []bench.Window{{P50: 1}}},
	}}
	testenv.Equal[bench.Event](t, New(known).Event(e), e)
}

func FuzzText(f *testing.F) {
	for _, s := range []string{"http://u:p@h", "://@", "a?token=b", "x" + known + "y", "http://\x00@", known + known,
		`{"tokens":["a]`, "{token: ['b'],\nx: [c]", "tokens=[\"a\"]b"} {
		f.Add(s)
	}
	m := New(known)
	f.Fuzz(func(t *testing.T, s string) {
		got := m.Text(s)
		testenv.Check(t, !strings.Contains(got, known) || strings.Contains(Mask, known), "%q: %q", s, got)
		testenv.Equal(t, m.Text(got), got, s)
	})
}

// FuzzUserInfo puts the password of an address into text. It must be masked.
func FuzzUserInfo(f *testing.F) {
	f.Add("root", "s3cret", "")
	f.Add("u", "p@w:x", "open ")
	f.Add("0", "\u2003", "u`")
	f.Add("scott", "tiger", "jdbc:oracle:thin:")
	f.Fuzz(func(t *testing.T, user, password, before string) {
		if user == "" || strings.ContainsAny(user+password, " \t\n\v\f\r\"'<>/()?#;&=") || !utf8.ValidString(user+password) || strings.ContainsAny(user, ":@") {
			t.Skip("no user and password of an address")
		}
		const mark = "hunter2hunter2"
		for _, address := range []string{"@tcp(db:3306)/x", "@db:5432/x", "@10.0.0.5:9200", "@localhost"} {
			for _, scheme := range []string{"", "amqp://"} {
				text := before + " " + scheme + user + ":" + password + mark + address
				got := (Masker{}).Keyed(text)
				testenv.Check(t, !strings.Contains(got, mark) || strings.Contains(before+user, "mailto"), "%q: %q", text, got)
			}
		}
	})
}

// The record of a request keeps its placeholders and no secret.
func TestRun_Places(t *testing.T) {
	r := bench.Request{
		Path: "/a?token={token}&api_key=literal-key", Body: `{"password":"${PASSWORD}","secret":"in-the-open","token":"{token}"}`,
		Header: map[string]string{
			"Authorization": "Bearer {token}", "Cookie": "sid={sid}; csrf={csrf}", "X-Api-Key": "k-{key}", "Proxy-Authorization": "Bearer literal-token",
		},
	}
	saved := []bench.Save{{Name: "token", From: bench.FromRegex, Of: "token=([a-z0-9]+)"}}
	r.Save = saved
	run := bench.Run{Profile: bench.Profile{Requests: []bench.Request{r}}}
	got := New(Of(run, nil)...).Run(run).Profile.Requests[0]
	want := bench.Request{
		Path: "/a?token={token}&api_key=***", Body: `{"password":"${PASSWORD}","secret":"***","token":"{token}"}`,
		Header: map[string]string{
			"Authorization": "Bearer {token}", "Cookie": "sid={sid}; csrf={csrf}", "X-Api-Key": "***", "Proxy-Authorization": "***",
		},
		Save: saved,
	}
	testenv.Equal(t, got, want)
	testenv.Equal(t, r.Header["X-Api-Key"], "k-{key}", "the request itself has changed")
}

// TestCutValues: a text that was cut within a secret does not show the beginning of the secret.
func TestCutValues(t *testing.T) {
	m := New("abcdefghijklmnop", "abcxyz-long-value")
	for in, want := range map[string]string{
		"got xxabcdefgh…":                       "got xx***…",
		"first abcdefghijklmno… (3 more bytes)": "first ***… (3 more bytes)",
		"a abcd… b abcxyz-… c":                  "a ***… b ***… c",
		"abc… is too short":                     "abc… is too short",
		"bcdefgh… begins elsewhere":             "bcdefgh… begins elsewhere",
		"…abcdefgh":                             "…abcdefgh",
		"…":                                     "…",
		"abcdefghijklmnop…":                     "***…",
	} {
		testenv.Equal(t, m.Text(in), want, in)
	}
	testenv.Equal(t, New("1234567890").Text("$.id: expected 5, got 12345678… (2 more)"),
		"$.id: expected 5, got ***… (2 more)")
	got := m.Text(strings.Repeat("…", 1000) + "abcdefgh…")
	testenv.Check(t, strings.HasSuffix(got, "…***…"), "after many marks")
}

func TestWithoutUser(t *testing.T) {
	for raw, want := range map[string]string{
		"": "", "http://a:9200": "http://a:9200", "http://u:p@a:9200/x": "http://a:9200/x", "https://u@a": "https://a",
		"u:p@a:9200": "(malformed URL)", "p@ss": "(malformed URL)", "http://u:p@[": "(malformed URL)", "\x00": "(malformed URL)",
	} {
		t.Run(raw, func(t *testing.T) { testenv.Equal(t, WithoutUser(raw), want, raw) })
	}
}
