package bench

import (
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/testenv"
)

func TestRequest(t *testing.T) {
	multipart := Request{Path: "/{a}", Body: "{b}${B}", Header: map[string]string{"Y": "{y}${C}", "X": "{x}"}, BodyFile: "f",
		Multipart: []Field{{Value: "{v}${B}${D}"}, {File: "g", FileName: "{n}${E}"}}}
	names := func(places []Part) (names []string) {
		for _, p := range places {
			names = append(names, p.Name)
		}
		return names
	}
	filled := multipart.Filled(func(name string) string { return name + "{id}" })
	check(t,
		fact{"checks", Request{Expect: Expectation{"a": 1}}.Checks(), true}, fact{"no checks", Request{}.Checks(), false},
		fact{"JSON", JSONBody.ContentType(), "application/json"}, fact{"text", PlainText.ContentType(), ""},
		fact{"form", FormBody.ContentType(), "application/x-www-form-urlencoded"},
		fact{"drawn", Save{From: FromJSON, Of: "a[*]"}.Draws(), true}, fact{"not drawn", Save{From: FromJSON, Of: "a[1]"}.Draws(), false},
		fact{"no JSON", Save{From: FromRegex, Of: "a[*]"}.Draws(), false},
		fact{"a place", HasPlace("/{id}", "id"), true}, fact{"text", HasPlace("/{{id}}", "id"), false},
		fact{"a link", Request{Path: "{next}?a={b}"}.Link(), "next"}, fact{"no link", Request{Path: "/{next}"}.Link(), ""},
		fact{"no path", Request{}.Link(), ""}, fact{"environment", multipart.EnvNames(), []string{"B", "D", "E", "C"}},
		fact{"places", names(multipart.Places()), []string{"a", "b", "v", "n", "x", "y"}},
		fact{"files", multipart.BodyFiles(), []string{"f", "g"}}, fact{"no files", len(Request{}.BodyFiles()), 0},
		fact{"filled body", filled.Body, "{b}B{{id}}"}, fact{"filled value", filled.Multipart[0].Value, "{v}B{{id}}D{{id}}"},
		fact{"filled name", filled.Multipart[1].FileName, "{n}E{{id}}"}, fact{"filled header", filled.Header["Y"], "{y}C{{id}}"},
		fact{"unchanged", multipart.Multipart[0].Value, "{v}${B}${D}"}, fact{"no header", Request{}.Filled(nil).Header == nil, true},
		fact{"environment of a program", FillEnv("{a}${B}$${C}", strings.ToLower), "{a}b${C}"},
		fact{"only braces are text", LiteralBraces("${A}{b}{{c}}"), "${A}{{b}}{{{c}}}"},
		fact{"any status", Repeat{}.Reached(500), nil}, fact{"a status that ends it", Repeat{Status: []int{200}}.Reached(200), nil},
		fact{"another status", Repeat{Status: []int{200, 404}}.Reached(202), "expected status 200 or 404, got 202"},
		fact{"order", KeptRequest{Start: 1}.Compare(KeptRequest{Start: 2}), -1},
	)
}

func TestProfile(t *testing.T) {
	profile := func(requests ...Request) Profile {
		return Profile{Requests: requests, Timeout: 5}
	}
	byID, city := Request{Path: "/{id}"}, Request{Path: "/city/1"}
	fixed, saved := Request{Path: "/{id}", IDs: IDSpec{Fixed: []int64{1}}}, Request{Save: []Save{{Name: "id"}}}
	session := func(r Request, name string) Request {
		r.Session = name
		return r
	}
	setup, variable := profile(byID), profile(byID)
	setup.Setup, variable.Variables = []Request{saved}, []Variable{{Name: "id"}}
	limits := profile(Request{Name: "a"}, Request{Name: "b", Timeout: 9, Pace: 1, Repeat: &Repeat{}}, Request{Timeout: 7})
	limits.Steps = []Step{{Duration: 2}, {Duration: 3}}
	limits.Setup, limits.Teardown = []Request{{Name: "first"}}, []Request{{Name: "last"}}
	users := profile(Request{Name: "b", Pace: 1}, Request{Name: "c", Repeat: &Repeat{}, SetUp: true})
	users.Sessions = []Session{{Name: "no"}, {Name: "s", Pace: 1}}
	every := ""
	for _, r := range limits.Every() {
		every += r.Name + " "
	}
	check(t,
		fact{"draws ids", profile(city, byID).DrawsIDs(), true}, fact{"no place", profile(city).DrawsIDs(), false},
		fact{"fixed ids", profile(fixed).DrawsIDs(), false}, fact{"its own variable", variable.DrawsIDs(), false},
		fact{"saved by the setup", setup.DrawsIDs(), false},
		fact{"saved by its session", profile(session(saved, "s"), session(byID, "s")).DrawsIDs(), false},
		fact{"saved by another session", profile(session(saved, "s"), session(byID, "o")).DrawsIDs(), true},
		fact{"saved outside a session", profile(saved, byID).DrawsIDs(), true},
		fact{"load", limits.LoadDuration(), Duration(5)}, fact{"every request", every, "first a b  last "},
		fact{"paced", limits.Paced(), "b"}, fact{"a paced session", users.Paced(), "s"}, fact{"without a pace", profile(city).Paced(), ""},
		fact{"repeated", limits.Repeated(), "b"}, fact{"repeated in the setup", users.Repeated(), ""},
	)
}

func TestExpectation(t *testing.T) {
	var r Request
	const text = `{"expect": {"json": {"a": 12345678901234567890, "{b}": ["{c}", {"d": "{e:number}"}]}, "body": "{f}", "schema": {"g": "{h}"}},
		"repeat": {"until": {"contains": "{i}"}}}`
	testenv.OK(t, json.Unmarshal([]byte(text), &r))
	check(t,
		fact{"exact", r.Expect["json"].(map[string]any)["a"], json.Number("12345678901234567890")},
		fact{"texts", r.ExpectedTexts(), []string{"{f}", "{c}", "{e:number}", "{i}"}},
		fact{"places", r.ExpectedPlaces(), "[{{f} f } {{c} c } {{e:number} e number} {{i} i }]"},
		fact{"not filled in", r.UnfilledPlaces(), "[{{{b} b } json true} {{{h} h } schema false}]"},
		fact{"nothing", all(Request{}.ExpectedTexts(), Request{}.UnfilledPlaces()), "[] []"},
		fact{"broken", json.Unmarshal([]byte(`[]`), &r.Expect) != nil, true},
	)
}

func TestDocument_AppendAction(t *testing.T) {
	action := func(d Document) string { return string(d.AppendAction([]byte("x"), "create")) }
	texts(t, map[string]string{
		`x{"create":{"_id":"1 ~"}}` + "\n":                   action(Document{ID: "1 ~"}),
		`x{"create":{"_id":"a","routing":"b"}}` + "\n":       action(Document{ID: "a", Routing: "b"}),
		`x{"create":{"_id":"\"\\"}}` + "\n":                  action(Document{ID: `"\`}),
		`x{"create":{"_id":"\u001f"}}` + "\n":                action(Document{ID: "\x1f"}),
		"x{\"create\":{\"_id\":\"\x7fé\"}}\n":                action(Document{ID: "\x7fé"}),
		`x{"create":{"_id":"\ufffd"}}` + "\n":                action(Document{ID: "\x80"}),
		`x{"create":{"_id":"\\"}}` + "\n":                    action(Document{ID: `\`}),
		`x{"create":{"_id":"","routing":"\u003c\n"}}` + "\n": action(Document{Routing: "<\n"}),
	})
}

// What other code decides by is written here once more, so a change of a kind is a choice.
func TestTraits(t *testing.T) {
	check(t,
		fact{"runtimes", Runtimes(), []string{"auto", "docker", "process"}},
		fact{"a container", RuntimeDocker.Traits().Container, true}, fact{"an unknown runtime", Runtime("x").Traits(), RuntimeTraits{}},
		fact{"a need in the client", all(NeedEmbedded.Traits(), NeedAuto.Traits()), "{true false false false} {true false false false}"},
		fact{"a need in a container", NeedContainer.Traits(), NeedTraits{Container: true}}, fact{"at a URL", NeedExternal.Traits(), NeedTraits{ByURL: true}},
		fact{"no need", NeedNone.Traits(), NeedTraits{None: true}},
		fact{"texts of a need", NeedSpec{URL: "u", Of: FormFrom([]byte(`{"b":["x",{"c":"y"}],"a":"z","n":1}`))}.Texts(), []string{"z", "x", "y", "u"}},
		fact{"engines", Engines(), []string{"auto", "fast", "vegeta"}}, fact{"lifecycle checks", len(LifecycleChecks()), 8},
		fact{"privileges", Privileges{[]string{"ALL", "X"}, true, 7}, "capabilities ALL, X; new privileges; up to 7 processes and threads"},
		fact{"one process", Privileges{Processes: 1}, "up to 1 processes and threads"}, fact{"no privileges", Privileges{}, ""},
		fact{"the build", LaunchSpec{Artifact: Artifact{Dir: "a"}}.Dir(), "a"},
		fact{"its own copy", LaunchSpec{Folder: "f", Artifact: Artifact{Dir: "a"}}.Dir(), "f/dir"},
		fact{"assigned", &Isolation{Text: "0-1"}, "0-1"}, fact{"not assigned", (*Isolation)(nil), ""},
		fact{"no certificates", (*TLS)(nil).Args() == nil, true}, fact{"any certificate", (&TLS{"x", true}).Args(), []string{"--insecure"}},
		fact{"a certificate", (&TLS{CACert: "x"}).Args(), []string{"--cacert", "x"}},
		fact{"a target", Run{Targets: []Target{{"a", "u"}, {"b", "v"}}}.TargetOf(Selection{Contender: "b"}), "v"},
		fact{"no target", Run{Targets: []Target{{"a", "u"}}}.TargetOf(Selection{"a", "x"}), ""},
		fact{"selected", Trial{"a", "b", 1}.Selection(), Selection{"a", "b"}},
		fact{"first response", FirstResponse{9_640 * time.Microsecond, 503}, "first response after 9.6ms: 503"},
	)
}

func TestRejections(t *testing.T) {
	for name, test := range map[string]struct {
		request Request
		want    string
	}{
		"the default":            {Request{}, "[]"},
		"one":                    {Request{ExpectStatus: 404}, "[]"},
		"below 400":              {Request{ExpectStatus: 200, MoreStatuses: []int{304}}, "[]"},
		"one from 400 on":        {Request{ExpectStatus: 200, MoreStatuses: []int{429}}, "[429]"},
		"400 itself":             {Request{ExpectStatus: 200, MoreStatuses: []int{400}}, "[400]"},
		"the first from 400 on":  {Request{ExpectStatus: 429, MoreStatuses: []int{200, 503}}, "[429 503]"},
		"all from 400 on":        {Request{ExpectStatus: 404, MoreStatuses: []int{410}}, "[]"},
		"all named":              {Request{ExpectStatus: 200, MoreStatuses: []int{429}, Success: []int{200, 429}}, "[]"},
		"one named":              {Request{ExpectStatus: 200, MoreStatuses: []int{404, 429}, Success: []int{200, 404}}, "[429]"},
		"not all below 400":      {Request{ExpectStatus: 200, MoreStatuses: []int{202}, Success: []int{200}}, "[202]"},
		"one named from 400 on":  {Request{ExpectStatus: 404, MoreStatuses: []int{410}, Success: []int{410}}, "[404]"},
		"the default and others": {Request{MoreStatuses: []int{429}}, "[429]"},
	} {
		testenv.Equal(t, fmt.Sprint(test.request.Rejections()), test.want, name)
	}
}

func TestRejectedRequestsAreNoErrors(t *testing.T) {
	l := Load{Outcomes: Outcomes{Succeeded: 1400, Failed: map[ErrorKind]int64{ErrTimeout: 3}, Rejected: Statuses{429: 5798}, Statuses: Statuses{200: 1449, 429: 5798}}, Counts: Counts{Lead: 49}}
	testenv.Equal(t, l.Ended(), int64(7250))
	if got, want := l.ErrorRate(), 3./7250; math.Abs(got-want) > 1e-12 {
		t.Errorf("error rate %g, want %g", got, want)
	}
	testenv.Equal(t, l.RejectedWords(), "rejected 80% of requests (429)")
	testenv.Equal(t, (Load{Outcomes: Outcomes{Succeeded: 1}}).RejectedWords(), "", "none rejected")
	// Rejected responses are not compared: the share of unexpected bodies is of the others.
	l.Failed, l.Checked = map[ErrorKind]int64{ErrWrong: 10}, 100
	if got, want := l.ErrorRate(), .1*1459/7257; math.Abs(got-want) > 1e-12 {
		t.Errorf("error rate %g with unexpected bodies, want %g", got, want)
	}
	l.Failed, l.Dropped = nil, 7247
	testenv.Equal(t, l.ErrorRateWithDropped(), .5, "error rate")
	testenv.Equal(t, Load{Outcomes: Outcomes{Rejected: Statuses{429: 10}}}.ErrorRate(), 0, "error rate")
}

func TestStatusesAsText(t *testing.T) {
	for want, s := range map[string]Statuses{
		"200: 1,449, 429: 5,798": {429: 5798, 200: 1449},
		"200: 9":                 {200: 9},
		"":                       nil,
		"200: 9, 201: 9, 202: 9, 203: 9, 204: 9, 599: 10, 2 more": {599: 10, 200: 9, 201: 9, 202: 9, 203: 9, 204: 9, 205: 8, 206: 8},
	} {
		testenv.Equal(t, s.String(), want)
	}
	data, err := json.Marshal(Load{Outcomes: Outcomes{Statuses: Statuses{429: 2, 200: 1}}}.Statuses)
	want := `{"200":1,"429":2}`
	testenv.Check(t, err == nil && string(data) == want, "%s %v, want %s", data, err, want)
}

// hardPassword has what one of the formats takes for its own syntax.
const hardPassword = `p;w'd"x=@/%41$& +#?{}\ü`

// These strings have been read with pgjdbc 42.7, Connector/J 9.1, MariaDB's driver 3.5, SQLAlchemy
// 2.1, pgx 5 and go-sql-driver 1.9: user, password and database were these. Npgsql's format is that
// of ADO.NET, which quotes with " and doubles it within.
func TestNeedAddress_Connection(t *testing.T) {
	hard := NeedAddress{Kind: Postgres, Host: "db", Port: "5432", User: "a b", Password: hardPassword, Database: "shop"}
	const escaped = "p%3Bw%27d%22x%3D%40%2F%2541%24%26%20%2B%23%3F%7B%7D%5C%C3%BC"
	easy := NeedAddress{Host: "db", Port: "3306", User: "app", Password: "s3cret", Database: "shop"}
	of := func(a NeedAddress, kind Database) NeedAddress { a.Kind = kind; return a }
	for _, c := range []struct {
		a          NeedAddress
		form, want string
	}{
		{hard, "ADO", `Host=db;Port=5432;Username="a b";Password="p;w'd""x=@/%41$& +#?{}\ü";Database=shop`},
		{hard, "JDBC", "jdbc:postgresql://db:5432/shop?user=a%20b&password=" + escaped},
		{hard, "SQLAlchemy", "postgresql://a%20b:" + escaped + "@db:5432/shop"},
		{hard, "Go", "postgres://a%20b:" + escaped + "@db:5432/shop"},
		{of(hard, MySQL), "ADO", `Server=db;Port=5432;User ID="a b";Password="p;w'd""x=@/%41$& +#?{}\ü";Database=shop`},
		{of(hard, MySQL), "JDBC", "jdbc:mysql://db:5432/shop?user=a%20b&password=" + escaped},
		{of(hard, MySQL), "SQLAlchemy", "mysql://a%20b:" + escaped + "@db:5432/shop"},
		{of(hard, MySQL), "Go", "a b:" + hardPassword + "@tcp(db:5432)/shop"},
		{of(hard, MariaDB), "SQLAlchemy", "mariadb://a%20b:" + escaped + "@db:5432/shop"},
		{of(easy, MariaDB), "ADO", "Server=db;Port=3306;User ID=app;Password=s3cret;Database=shop"},
		{of(easy, MariaDB), "JDBC", "jdbc:mariadb://db:3306/shop?user=app&password=s3cret"},
		{of(easy, MariaDB), "Go", "app:s3cret@tcp(db:3306)/shop"},
		{NeedAddress{Kind: Postgres, Host: "::1", Port: "5432"}, "ADO", "Host=::1;Port=5432"},
		{NeedAddress{Kind: Postgres, Host: "::1", Port: "5432", User: "a"}, "SQLAlchemy", "postgresql://a@[::1]:5432/"},
	} {
		testenv.Equal(t, testenv.Must(c.a.Connection(c.form))(t), c.want, c.form)
	}
	_, err := of(hard, MariaDB).Connection("JDBC")
	testenv.Fails(t, err, "cannot have blanks or any of `%+&=#?/`; use Host, Port, User, Password and Database")
	_, err = easy.Connection("ADO")
	testenv.Fails(t, err, "ADO is for PostgreSQL, MySQL and MariaDB; use Host, Port, User, Password and Database, or URL")
	for scheme, want := range map[string]Database{"postgresql": Postgres, "postgres": Postgres, "mysql": MySQL, "mariadb": MariaDB, "redis": ""} {
		testenv.Equal(t, DatabaseOf(scheme), want, scheme)
	}
}

// FuzzConnection reads each string as its format is defined: the password is the same.
func FuzzConnection(f *testing.F) {
	f.Add(hardPassword)
	f.Add(`"`)
	f.Add(" ")
	f.Fuzz(func(t *testing.T, password string) {
		if password == "" || strings.ContainsRune(password, 0) {
			return
		}
		a := NeedAddress{Kind: Postgres, Host: "db", Port: "1", User: "u", Password: password, Database: "d"}
		testenv.Equal(t, readADO(testenv.Must(a.Connection("ADO"))(t))["Password"], password)
		u := testenv.Must(url.Parse(testenv.Must(a.Connection("SQLAlchemy"))(t)))(t)
		got, _ := u.User.Password()
		testenv.Equal(t, got, password)
		_, query, _ := strings.Cut(testenv.Must(a.Connection("JDBC"))(t), "?")
		values := testenv.Must(url.ParseQuery(query))(t)
		testenv.Equal(t, values.Get("password"), password)
	})
}

// readADO reads a connection string of ADO.NET.
func readADO(text string) map[string]string {
	all := map[string]string{}
	for text != "" {
		key, rest, _ := strings.Cut(text, "=")
		value := ""
		if strings.HasPrefix(rest, `"`) {
			rest = rest[1:]
			for {
				part, after, _ := strings.Cut(rest, `"`)
				value += part
				if rest = after; !strings.HasPrefix(rest, `"`) {
					break
				}
				value, rest = value+`"`, rest[1:]
			}
			rest = strings.TrimPrefix(rest, ";")
		} else {
			value, rest, _ = strings.Cut(rest, ";")
		}
		all[key], text = value, rest
	}
	return all
}

func TestTemplate(t *testing.T) {
	env := map[string]string{"TOKEN": "s3cr3t{id}", "A": "1"}
	getenv := func(name string) string { return env[name] }
	for name, test := range map[string]struct {
		text         string
		names, words []string
		want         string
	}{
		"plain":             {text: `{"a": {"b": 1}}`, want: `{"a": {"b": 1}}`},
		"variable":          {text: "Bearer ${TOKEN}", names: []string{"TOKEN"}, want: "Bearer s3cr3t{id}"},
		"twice":             {text: "${A}${A}${B}", names: []string{"A", "B"}, want: "11"},
		"not a variable":    {text: "$${A} $A ${a b} ${}", want: "${A} $A ${a b} ${}"},
		"word":              {text: `{"user": "u{id}"}`, words: []string{"id"}, want: `{"user": "u{id}"}`},
		"text of a word":    {text: `{user{{id}}}`, want: `{user{id}}`},
		"braces with space": {text: `{ id }`, want: `{ id }`},
	} {
		t.Run(name, func(t *testing.T) {
			testenv.Equal(t, EnvNames(test.text), test.names, "variables")
			var words []string
			for _, p := range (Request{Body: test.text}).Places() {
				words = append(words, p.Name)
			}
			testenv.Check(t, reflect.DeepEqual(words, test.words), "places %q, want %q", words, test.words)
			var got string
			for _, p := range Parts((Request{Body: test.text}).Filled(getenv).Body) {
				got += p.Text
			}
			testenv.Check(t, got == test.want, "filled %q, want %q", got, test.want)
		})
	}
}

// Values of the environment are escaped for the body, and are not templates.
func TestFilledIsEscapedForTheBody(t *testing.T) {
	getenv := func(string) string { return "a&b=\"\\ {id}" }
	for encoding, want := range map[Encoding]string{
		"": `p=a&b="\ {{id}}`, FormBody: "p=a%26b%3D%22%5C+%7Bid%7D", JSONBody: `p=a&b=\"\\ {{id}}`,
	} {
		testenv.Equal(t, (Request{Encoding: encoding, Body: "p=${A}"}).Filled(getenv).Body, want, encoding)
	}
	testenv.Equal(t, Escaped("a b${A}{id}{{id}}$${A}&", url.QueryEscape), "a+b${A}{id}%7Bid%7D$${A}%26")
}

// The parts of a template, joined, are the template, except for doubled braces.
func FuzzParts(f *testing.F) {
	for _, s := range []string{
		"", "/x", "/{id}", "/{language}/{id}{id}?a={language}", "{i{id}d}", "{{id}}", `{"a":"{n:number}"}`, "{user.name}", "{{a}}{b}{{c", "${A}$${B}{c}",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var b strings.Builder
		parts := Parts(s)
		for i, p := range parts {
			switch {
			case p.Name == "" && (p.Text == "" || i > 0 && parts[i-1].Name == ""):
				t.Errorf("an empty text, or two of them: %q", parts)
			case p.Name != "" && !strings.HasPrefix(p.Text, "{"+p.Name):
				t.Errorf("place %q of %q", p.Text, p.Name)
			}
			b.WriteString(p.Text)
		}
		testenv.Check(t, strings.Count(s, "{{") != 0 || b.String() == s, "%q became %q", s, b.String())
		testenv.Check(t, len(b.String()) <= len(s), "%q grew to %q", s, b.String())
	})
}

// What is filled in to the template of a text is the text, whatever places it seems to have.
func FuzzLiteral(f *testing.F) {
	for _, s := range []string{
		"", "{id}", "{{id}}", "{{{id}}}", "{{id}", "{id}}", "${HOME}", "$${HOME}", "$$${HOME}", "${a.b}{c}{d}", `{"a": "{n:number}"}`,
		"{{a}{b}}", "${{a}}", "{a}{{b}}{{{c}}}$",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		filled := Request{Body: Literal(s), Header: map[string]string{"X": Literal(s)}}.Filled(func(name string) string {
			t.Errorf("%q names the environment variable %s", Literal(s), name)
			return ""
		})
		for _, text := range []string{filled.Body, filled.Header["X"]} {
			parts := Parts(text)
			if s == "" && len(parts) == 0 {
				continue
			}
			testenv.Check(t, len(parts) == 1 && parts[0] == (Part{Text: s}),
				"%q became %q, with the parts %q", s, text, parts)
		}
	})
}
