package bench

import (
	"encoding/json"
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

// Columns of one file that are drawn the same way are of one row, unless two are the same column.
func TestRowOf(t *testing.T) {
	column := func(name, column string) Variable { return Variable{Name: name, File: "f", Column: column} }
	user, mail, again, row := column("user", "1"), column("mail", "2"), column("again", "1"), column("row", "")
	file, draw, zipf, own := mail, mail, mail, mail
	file.File, draw.Draw, zipf.Exponent, own.File = "g", DrawRandom, 2, ""
	for name, test := range map[string]struct {
		of           Variable
		all          []Variable
		row, unclear string
	}{
		"the first of two":    {mail, []Variable{user, mail}, "user", ""},
		"itself":              {user, []Variable{user, mail}, "user", ""},
		"another file":        {file, []Variable{user, file}, "mail", ""},
		"drawn another way":   {draw, []Variable{user, draw}, "mail", ""},
		"another exponent":    {zipf, []Variable{user, zipf}, "mail", ""},
		"without a file":      {own, []Variable{user, own}, "mail", ""},
		"a column twice":      {mail, []Variable{user, mail, again}, "mail", "user"},
		"twice, and no other": {user, []Variable{user, again}, "user", ""},
		"next to a whole row": {mail, []Variable{row, user, mail}, "user", "row"},
		"a whole row":         {row, []Variable{user, mail, row}, "row", ""},
		"other files between": {mail, []Variable{file, user, mail}, "user", ""},
	} {
		check(t, fact{name, RowOf(test.of, test.all), test.row}, fact{"unclear " + name, UnclearRow(test.of, test.all), test.unclear})
	}
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
		fact{"all runtimes", AllRuntimes(), []string{"auto", "docker", "process", "url"}},
		fact{"a container", RuntimeDocker.Traits().Container, true}, fact{"an unknown runtime", Runtime("x").Traits(), RuntimeTraits{}},
		fact{"a need in the client", all(NeedEmbedded.Traits(), NeedAuto.Traits()), "{true false false false} {true false false false}"},
		fact{"a need in a container", NeedContainer.Traits(), NeedTraits{Container: true}}, fact{"at a URL", NeedExternal.Traits(), NeedTraits{ByURL: true}},
		fact{"no need", NeedNone.Traits(), NeedTraits{None: true}},
		fact{"texts of a need", NeedSpec{URL: "u", Of: []byte(`{"b":["x",{"c":"y"}],"a":"z","n":1}`)}.Texts(), []string{"z", "x", "y", "u"}},
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
