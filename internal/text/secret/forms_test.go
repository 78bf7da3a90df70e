package secret

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// hard has characters that each way to write a text writes in another way.
const hard = `S3cr3t-Pä€😀ssword"x/7<&+ %y\z`

// escaped returns a text with each character that is in chars, or is not ASCII, as its UTF-16 units
// in a format.
func escaped(s, chars, format string) string {
	var b strings.Builder
	for _, r := range s {
		if r < 0x80 && !strings.ContainsRune(chars, r) {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&b, format, unit)
		}
	}
	return b.String()
}

func lowerPercent(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02x", c)
		}
	}
	return b.String()
}

func inJSON(s string) string {
	b, _ := json.Marshal(s)
	return string(b[1 : len(b)-1])
}

// forms are the ways in which services and libraries write a text.
func forms(s string) map[string]string {
	quotes := strings.NewReplacer(`\`, `\\`, `"`, `\"`)
	plain := quotes.Replace(s)
	return map[string]string{
		"unchanged":               s,
		"JSON of Go":              inJSON(s),
		"JSON without HTML":       plain,
		"JSON of Python":          escaped(plain, "", `\u%04x`),
		"JSON of Python, capital": escaped(plain, "", `\u%04X`),
		"JSON of PHP":             strings.ReplaceAll(escaped(plain, "", `\u%04x`), "/", `\/`),
		"JSON of Java":            escaped(plain, "<&/", `\u%04X`),
		"JSON in JSON":            inJSON(inJSON(s)),
		"JSON in JSON of PHP":     inJSON(strings.ReplaceAll(escaped(plain, "", `\u%04x`), "/", `\/`)),
		"JSON in JSON in JSON":    inJSON(inJSON(inJSON(s))),
		"Go":                      strconv.QuoteToASCII(s),
		"bytes of Python":         lowerHex(s),
		"HTML":                    html.EscapeString(s),
		"HTML with names":         strings.NewReplacer(`&`, "&amp;", `"`, "&quot;", "<", "&lt;", "ä", "&auml;", "€", "&euro;").Replace(s),
		"HTML with numbers":       strings.NewReplacer(`&`, "&#x26;", `"`, "&#x22;", "<", "&#60;", "ä", "&#228;", "€", "&#x20AC;").Replace(s),
		"HTML in JSON":            inJSON(html.EscapeString(s)),
		"JSON in HTML":            html.EscapeString(inJSON(s)),
		"URL":                     url.PathEscape(s),
		"form":                    url.QueryEscape(s),
		"URL, lower case":         lowerPercent(s),
		"URL, twice":              url.QueryEscape(url.QueryEscape(s)),
		"URL, twice, lower case":  lowerPercent(lowerPercent(s)),
		"JSON in URL":             url.QueryEscape(inJSON(s)),
		"user info":               url.UserPassword("u", s).String(),
		"base64":                  base64.StdEncoding.EncodeToString([]byte(s)),
		"base64 without padding":  base64.RawStdEncoding.EncodeToString([]byte(s)),
		"base64 of URLs":          base64.RawURLEncoding.EncodeToString([]byte(s)),
		"base64 after 1 byte":     base64.StdEncoding.EncodeToString([]byte("x" + s)),
		"base64 after 2 bytes":    base64.URLEncoding.EncodeToString([]byte("xy" + s + "z")),
		"user and password":       base64.StdEncoding.EncodeToString([]byte("admin:" + s)),
		"base64 in a URL":         url.QueryEscape(base64.StdEncoding.EncodeToString([]byte(s))),
		"base64 in JSON of PHP":   strings.ReplaceAll(base64.StdEncoding.EncodeToString([]byte(s)), "/", `\/`),
		"hexadecimal":             hex.EncodeToString([]byte(s)),
		"hexadecimal, capital":    strings.ToUpper(hex.EncodeToString([]byte(s))),
	}
}

func lowerHex(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if s[i] < 0x80 && s[i] != '\\' {
			b.WriteByte(s[i])
		} else {
			fmt.Fprintf(&b, `\x%02x`, s[i])
		}
	}
	return b.String()
}

// pieces are parts of forms that show the secret.
func pieces(form string) (all []string) {
	for i := 4; i+8 <= len(form); i += 8 {
		all = append(all, form[i:i+8])
	}
	return all
}

// A known value is masked in each form in which it is sent or can come back.
func TestEachFormIsMasked(t *testing.T) {
	for _, value := range []string{hard, "abcdef", "päßwort", "line one\nline two", `C:\new\table`, "a+b c+d", "50%41&amp;xyz", "  padded value\n", `\u0041bcdefg`} {
		m := New(value)
		for name, form := range forms(value) {
			got := m.Text(`got {"x": "` + form + `"}`)
			testenv.Contains(t, got, Mask)
			for _, p := range pieces(form) {
				testenv.Contains(t, got, "!"+p)
			}
			testenv.Equal(t, m.Text(got), got, value, name)
		}
	}
}

// Wherever a text was cut within a value, at most three of its characters are shown.
func TestFormsThatWereCut(t *testing.T) {
	m := New(hard)
	for _, form := range forms(hard) {
		for cut := range len(form) {
			in := "got " + form[:cut] + "… (3 more)"
			got := m.Text(in)
			for _, shown := range append(pieces(form[:cut]), "S3cr", "ssword") {
				testenv.Contains(t, got, "!"+shown)
			}
		}
	}
}

// In ISO 8859-1, and in what is left of that in UTF-8.
func TestLatin1(t *testing.T) {
	m := New("geheimpässwort")
	for _, in := range []string{"x geheimp\xe4sswort", "geheimp%E4sswort", "geheimp\ufffdsswort", `geheimp\xe4sswort`} {
		got := m.Text(in)
		testenv.Check(t, strings.HasSuffix(got, Mask), "%q: %q", in, got)
	}
}

// What is not a known value is not changed by looking at it without escapes.
func TestText_Escapes(t *testing.T) {
	m := New(hard, "12345678")
	for _, in := range []string{
		`{"a":"\u00e4\"\\\/\n","b":"%C3%A4"}`, "100% &amp; &#34; &", `\`, `\u12`, "%", "%4", "&", "&;", `\ud83d`, `\ud83d\u`, `\u12…`, "%…", `\…`, "&am…",
		"912345678", "123456789", "x123456780", "", "…", "S3c…",
	} {
		testenv.Equal(t, m.Text(in), in)
	}
}

// However many and long the values are, what is kept to find them is bounded by their length.
func TestNew_Bounded(t *testing.T) {
	var values []string
	total := 0
	for i := range 300 {
		values = append(values, fmt.Sprintf("%06d-%s", i, strings.Repeat("x", 3000)))
		total += len(values[i])
	}
	m := New(values...)
	kept := 0
	for _, forms := range m.known {
		kept += len(strings.Join(forms, ""))
	}
	testenv.Check(t, kept > total && kept <= total+maxEncoded, "%d bytes of %d", kept, total)
	testenv.Equal(t, m.Text("a "+values[299]+" b"), "a *** b")
}

// Short values are not looked for, in no form.
func TestShortValues(t *testing.T) {
	for n := range 6 {
		value := "abcde"[:n]
		testenv.Contains(t, New(value).Text(strings.Join([]string{value, "YWJjZGU=", "6162636465"}, " ")), "!"+Mask)
	}
}

func FuzzForms(f *testing.F) {
	f.Add(hard, "x", uint8(3))
	f.Add("abcdef", `\`, uint8(9))
	f.Add("äöü€uro", "%", uint8(200))
	f.Fuzz(func(t *testing.T, value, around string, which uint8) {
		m := New(value)
		all := forms(value)
		names := make([]string, 0, len(all))
		for name := range all {
			names = append(names, name)
		}
		form := all[names[int(which)%len(names)]]
		text := around + form + around + cutMark
		got := m.Text(text)
		testenv.Check(t, len(value) < minLength || !strings.Contains(got, value) || strings.Contains(value, "*"),
			"%q: %q", text, got)
	})
}

// A cookie may be a session or a setting.
func TestIsToken(t *testing.T) {
	for v, want := range map[string]bool{
		"": false, "english": false, "dark-and-wide": false, "1764259200000": false, "a1b2": false,
		"a1b2c3d4e5f6": true, "eyJhbGciOiJIUzI1NiJ9.e30.x": true, "kQzRwXyPabcd": true, "topsecretcookievalue": true,
	} {
		testenv.Equal(t, IsToken(v), want, v)
	}
}

// TestSecretArgs has command lines: what is masked in them is also known, and masked elsewhere.
func TestSecretArgs(t *testing.T) {
	const value = "hunter2-hunter2"
	for name, argv := range map[string][]string{
		"next word":      {"serve", "--db-password", value},
		"same word":      {"serve", "--db-password=" + value},
		"variable":       {"env", "DB_PW=" + value, "serve"},
		"header":         {"curl", "-H", "Authorization: Bearer " + value},
		"odd header":     {"curl", "-H", "X-Odd: Bearer " + value},
		"JSON":           {"serve", `{"password":"` + value + `"}`},
		"list in JSON":   {"serve", `{"passwords":["x","` + value + `"]}`},
		"YAML":           {"serve", "password: " + value},
		"user":           {"curl", "-u", "me:" + value},
		"user, glued":    {"curl", "-ume:" + value},
		"user, assigned": {"curl", "--user=me:" + value},
		"address":        {"serve", "--db=postgres://me:" + value + "@db/x"},
		"of a shell":     {"sh", "-c", "exec serve --db-password " + value + " --port 80"},
		"query":          {"serve", "http://h/?sessionid=" + value},
		"property":       {"java", "-Ddb.password=" + value, "-jar", "x.jar"},
	} {
		t.Run(name, func(t *testing.T) {
			testenv.Contains(t, strings.Join(Masker{}.Args(argv), " "), "!"+value)
			for where, svc := range map[string]bench.Service{
				"command":       {Process: &bench.ProcessRecipe{Command: argv}},
				"build":         {Process: &bench.ProcessRecipe{Build: [][]string{{"true"}, argv}}},
				"of the image":  {Docker: &bench.DockerRecipe{Command: argv}},
				"of a variant":  {Variants: []bench.Variant{{Command: argv}}},
				"variant build": {Variants: []bench.Variant{{Build: [][]string{argv}}}},
				"argument":      {Docker: &bench.DockerRecipe{Args: map[string]string{"OPTIONS": strings.Join(argv[1:], " ")}}},
				"variable":      {Env: map[string]string{"OPTIONS": strings.Join(argv[1:], " ")}},
			} {
				testenv.Contains(t, New(Of(bench.Run{}, []bench.Service{svc})...).Text(where+": "+value), "!"+value)
			}
		})
	}
}

// TestShortAndNumbers: short values are part of many words, and numbers part of other numbers.
func TestShortAndNumbers(t *testing.T) {
	m := New("1", "abc", "123456")
	for in, want := range map[string]string{
		"took 11 ms, abcd": "took 11 ms, abcd", "code 123456.": "code ***.", "9123456 1234567": "9123456 1234567", "123456": "***",
	} {
		testenv.Equal(t, m.Text(in), want, in)
	}
	key := New("-----BEGIN KEY-----\nMIIEvQIBADANBg\nkqhkiG9w0BAQEF\n-----END KEY-----\n")
	testenv.Contains(t, key.Text("line: kqhkiG9w0BAQEF"), "!kqhk")
}

func TestMapsWithCredentials(t *testing.T) {
	run := bench.Run{Profile: bench.Profile{Requests: []bench.Request{{
		Header: map[string]string{"X-Odd": "Bearer abc"}, Path: "/x?pw=path-secret", Body: `{"password":"body-secret"}`,
	}}}}
	got := (Masker{}).Run(run).Profile.Requests[0]
	testenv.Check(t, got.Header["X-Odd"] == "Bearer ***" && !strings.Contains(got.Path+got.Body, "secret"), "%+v", got)
	values := Of(run, nil)
	for _, want := range []string{"abc", "path-secret", "body-secret"} {
		testenv.Check(t, slices.Contains(values, want), "%s is not among %q", want, values)
	}
}

func FuzzFind(f *testing.F) {
	for _, s := range []string{`password":"x`, "token: |", "a=b=c:d", `\\"pin\\":\\"x\\"`, `"tokens":["a\"]",['b`, "-u a:b", "Bearer 1", "Cookie:\t'", "--token x=y", "://a:b#c@"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, x := range find("\x00" + s) {
			testenv.Need(t, x.from > 0 && x.to >= x.from && x.to <= len(s)+1, "%q: %v", s, x)
		}
	})
}

// What is saved from a place of secrets, or used in one, is a secret under any name.
func TestSaved(t *testing.T) {
	save := func(name, from, of string) bench.Request {
		return bench.Request{Save: []bench.Save{{Name: name, From: bench.Source(from), Of: of}}}
	}
	for name, tt := range map[string]struct {
		save, use bench.Request
		secret    bool
	}{
		"of a cookie":              {save: save("x", "cookie", "lang"), secret: true},
		"of Set-Cookie":            {save: save("x", "header", "Set-Cookie"), secret: true},
		"of a secret header":       {save: save("x", "header", "X-Auth-Token"), secret: true},
		"of another header":        {save: save("x", "header", "Location")},
		"of a secret key":          {save: save("sid", "json", "data.access_token"), secret: true},
		"of another key":           {save: save("x", "json", "data.id")},
		"under a secret name":      {save: save("csrf_token", "regex", "x"), secret: true},
		"used in Authorization":    {save: save("x", "json", "id"), use: bench.Request{Header: map[string]string{"Authorization": "Bearer {x}"}}, secret: true},
		"used in Cookie":           {save: save("x", "json", "id"), use: bench.Request{Header: map[string]string{"Cookie": "a=b; c={x}"}}, secret: true},
		"used after Bearer":        {save: save("x", "json", "id"), use: bench.Request{Header: map[string]string{"X-H": "Bearer {x}"}}, secret: true},
		"used in a query":          {save: save("x", "json", "id"), use: bench.Request{Path: "/a?id=3&access_token={x}"}, secret: true},
		"used in another query":    {save: save("x", "json", "id"), use: bench.Request{Path: "/a?token=3&id={x}"}},
		"used in JSON":             {save: save("x", "json", "id"), use: bench.Request{Body: `{"a":"{id}","password":"{x:json}"}`}, secret: true},
		"used elsewhere in JSON":   {save: save("x", "json", "id"), use: bench.Request{Body: `{"a":"{x}","password":"{y}"}`}},
		"another one in a cookie":  {save: save("x", "json", "id"), use: bench.Request{Header: map[string]string{"Cookie": "c={y}"}}},
		"used in a form":           {save: save("x", "json", "id"), use: bench.Request{Body: "token={x}&a=1"}, secret: true},
		"used in a secret field":   {save: save("x", "json", "id"), use: bench.Request{Multipart: []bench.Field{{Name: "password", Value: "{x}"}}}, secret: true},
		"used in another field":    {save: save("x", "json", "id"), use: bench.Request{Multipart: []bench.Field{{Name: "title", Value: "{x}"}}}},
		"used in a path and plain": {save: save("x", "json", "id"), use: bench.Request{Path: "/token/{x}"}},
	} {
		got := slices.Collect(maps.Keys(Saved([]bench.Request{tt.save, tt.use})))
		testenv.Equal(t, len(got) == 1, tt.secret, name, got)
	}
}
