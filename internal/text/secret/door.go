package secret

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/locbench/locbench/internal/bench"
)

const (
	// a text in quotes, which may themselves be escaped, or a list of such texts; either may be cut off
	quoted = `"((?:[^"\\]|\\.)*)|'([^']*)|\\+"(.*?)(?:\\+"|$)|\[((?:[^\[\]"']|"(?:[^"\\]|\\.)*"|'[^']*')*)`
	scheme = `(?:(?i:bearer|basic)[ \t]+)`
)

// \x00 is between the words of a command.
var (
	// afterEquals matches the value of a name in a query, a form or a list of settings, afterColon in JSON,
	// YAML or a header, the last group being one without quotes. option matches an option with its value.
	afterEquals = regexp.MustCompile(`^>?[ \t]*(?:` + quoted + `|([^\s"'&;#<>\x00]+))`)
	afterColon  = regexp.MustCompile(`^[ \t]*(?:` + quoted + `|` + scheme + `?((?:\$?\{[\w.:-]+\}|[^\s"'<>,{}\[\]\x00])+))`)
	option      = regexp.MustCompile(`(?:^|[\s"'=\x00])(--?[A-Za-z][\w.-]*)(?:[ \t]+(?:"([^"\n]+)"|'([^'\n]+)'|([^\s"'\x00-][^\s"'\x00]*))|\x00([^\x00-][^\x00]*))`)
	// typed matches the rest of a place of a variable, {token:raw}.
	typed = regexp.MustCompile(`^(?:raw|number|json)\}`)
	// pathTo matches an entry that says where a secret is: {cookie: sid}, {token: data.access_token}.
	pathTo = regexp.MustCompile(`(?i)^(?:cookie: [\w-]+|[\w-]+: (?:[\w.-]*[._-])?(?:token|cookie|secret|password|jwt|key))$`)
	// element matches an element of a list.
	element = regexp.MustCompile(`"(?:[^"\\]|\\.)+"|'[^']+'|[^\s,"']+`)
	// unnamed match secrets without such a name: what follows an authentication scheme in a header of any
	// name, the password of a user in SQL, and options of curl and of the programs of databases.
	unnamed = []*regexp.Regexp{
		regexp.MustCompile(`(?:^|[:=\x00])[ \t"']*` + scheme + `([^\s"'\\,;<>\x00]+)`),
		regexp.MustCompile(`(?i)\b(?:password|identified\s+(?:with\s+\S+\s+)?(?:by|as)(?:\s+password)?)\s+(?:e?'((?:[^']|'')+)'|"([^"]+)")`),
		ofTool(`(?:mysql|mariadb)[a-z-]*`, `-p`), ofTool(`(?:redis|valkey)-cli`, `-a[\s\x00]+`), ofTool(`mongo[a-z]*`, `-p[\s\x00]+`),
	}
	noToken = regexp.MustCompile(`(?i)^(?:auth\w*|tokens?|scheme|credentials|realm.*|is|and|or)[.:]*$`)
	// brokenUser matches the user info of a URL whose password has characters that end it.
	brokenUser = regexp.MustCompile(`://([^\s/?#:@"'<>\x00]*:[0-9]*[^0-9\s/?#"'<>\x00][^\n"'<>\x00]*)@`)
	// bareUser matches the user info of an address without a scheme, as in root:secret@tcp(db:3306)/x
	// and scott/tiger@db:1521, and userOption that of curl.
	bareUser = regexp.MustCompile(`(?:^|[\s="',;\x00])([\w.+-]*[:/][^\s"'<>\x00]+)@` +
		`(?:[a-z]*\(|//|\[[0-9a-fA-F:.]+\]|[a-zA-Z0-9][\w.-]*(?::[0-9]{1,5}\b|/)|localhost|[0-9]+(?:\.[0-9]+){3})`)
	userOption = regexp.MustCompile(`(?:^|[\s"'\x00])(?:-u|--user|--proxy-user)[ \t=\x00]*["']?([^\s:"'=\x00-][^\s:"'\x00]*:[^\s"'\x00]+)`)
)

// maxLine is how long a text may be, in bytes, to be searched for addresses and for secrets without a
// name: longer ones are bodies.
const maxLine = 64 << 10

func ofTool(name, option string) *regexp.Regexp {
	return regexp.MustCompile(`(?:^|[\s;&|("'/\x00])` + name + `(?:[\s\x00][^;&|\n]*?)?[\s\x00]` + option + `["']?([^\s"';&|)\x00]+)`)
}

// find returns the secrets of a text by their names and places: they may overlap. Of a command each word
// has \x00 before it.
func find(s string) (all []span) {
	all = assignments(s)
	if len(s) > maxLine {
		return all
	}
	if strings.Contains(s, "-") {
		for at := 0; ; {
			m := option.FindStringSubmatchIndex(s[at:])
			if m == nil {
				break
			}
			if x := group(m, 4, at); Name(s[at+m[2] : at+m[3]]) {
				all = append(all, x)
			}
			at += m[3] // the value may itself be an option, in quotes
		}
	}
	for _, of := range unnamed {
		for _, m := range of.FindAllStringSubmatchIndex(s, -1) {
			if x := group(m, 2, 0); !noToken.MatchString(s[x.from:x.to]) {
				all = append(all, x)
			}
		}
	}
	return append(all, users(s)...)
}

// group returns the first of the groups of a match, from an index on, that is not empty.
func group(m []int, first, at int) span {
	for first < len(m)-2 && m[first] < 0 {
		first += 2
	}
	return span{from: at + m[first], to: at + m[first+1]}
}

// assignments finds the values of secret names after an equals sign or a colon.
func assignments(s string) (all []span) {
	names := map[string]bool{}
	for at := 0; ; {
		next := strings.IndexAny(s[at:], "=:")
		if next < 0 {
			return all
		}
		before := strings.TrimRight(s[at:at+next], "\\\"' \t")
		end := at + len(before)
		name := before[strings.LastIndexFunc(before, func(c rune) bool {
			return c >= utf8.RuneSelf || !unicode.IsLetter(c) && !unicode.IsDigit(c) && !strings.ContainsRune("_.-", c)
		})+1:]
		from, value := end-len(name), afterEquals
		colon := s[at+next] == ':'
		at += next + 1
		is, known := names[name]
		if !known {
			is = assigned(name)
			names[name] = is
		}
		variable := from > 0 && s[from-1] == 0 || strings.HasPrefix(name, "-")
		if !is && !(variable && Name(name)) || strings.HasPrefix(s[at:], "//") {
			continue
		}
		if colon {
			if value = afterColon; typed.MatchString(s[at:]) {
				continue
			}
		}
		m := value.FindStringSubmatchIndex(s[at:])
		if m == nil {
			continue
		}
		x := group(m, 2, at)
		if colon && m[len(m)-2] >= 0 {
			if restOfLine(s[:from], name) {
				x.to = x.from + len(strings.TrimRight(s[x.from:until(s, x.from, "\n\"'\x00")], " \t\r"))
			} else if pathTo.MatchString(s[from:x.to]) && inBraces(s[:from]) {
				continue
			}
		}
		at = x.to
		if x.from == 0 || s[x.from-1] != '[' {
			all = append(all, x)
			continue
		}
		for _, e := range element.FindAllStringIndex(s[x.from:x.to], -1) {
			one := span{from: x.from + e[0], to: x.from + e[1]}
			if c := s[one.from]; c == '"' || c == '\'' {
				one.from, one.to = one.from+1, one.to-1
			}
			all = append(all, one)
		}
	}
}

// users finds the user info of addresses.
func users(s string) (all []span) {
	if !strings.ContainsAny(s, "@-") {
		return nil
	}
	add := func(of *regexp.Regexp) {
		for _, m := range of.FindAllStringSubmatchIndex(s, -1) {
			switch info := s[m[2]:m[3]]; {
			case harmlessUser.MatchString(info), strings.Trim(info, digits+":") == "", of != userInfo && strings.Contains(info, "://"),
				strings.HasPrefix(info, "mailto:"):
			default:
				all = append(all, span{m[2], m[3], true})
			}
		}
	}
	if add(userInfo); all == nil {
		add(brokenUser)
	}
	add(bareUser)
	add(userOption)
	return all
}

// restOfLine reports whether all of the line is the value of a name with a colon: it has only
// indentation or a list marker before it, as in YAML, or is that of a header of several words.
func restOfLine(before, name string) bool {
	return strings.Trim(before[strings.LastIndexAny(before, "\n\x00")+1:], " \t-") == "" ||
		strings.HasSuffix(name, "Authorization") || strings.HasSuffix(name, "Cookie")
}

// inBraces reports whether a name after this text is the key of a map of YAML on one line.
func inBraces(before string) bool {
	return strings.LastIndexByte(before, '{') > strings.LastIndexAny(before, "\n}") || strings.HasSuffix(before, ", ")
}

func until(s string, from int, ends string) int {
	if n := strings.IndexAny(s[from:], ends); n >= 0 {
		return from + n
	}
	return len(s)
}

// onlyPlaces matches a text of places of variables: "Bearer {token}", "sid={sid}", "${PASSWORD}".
var onlyPlaces = regexp.MustCompile(
	`^(?:[A-Za-z]+ |[A-Za-z0-9_-]+=)?` + place + `(?:; ?[A-Za-z0-9_-]+=` + place + `)*$`)

const place = `(?:` + variable + `|\{[A-Za-z_][\w.-]*(?::[a-z]+)?\})`

// harmless reports whether a value cannot be a secret: it names one, or is that of a switch.
func harmless(v string) bool {
	if onlyPlaces.MatchString(v) {
		return true
	}
	v = strings.TrimRight(strings.ToLower(strings.Trim(v, `"'\`)), ",.;:)]}")
	return v == "" || v == Mask || v == cutMark || slices.Contains(switches, v)
}

// switches are values of names such as HTTP_AUTH.
var switches = []string{
	"enabled", "disabled", "required", "optional", "default",
	"true", "false", "yes", "no", "on", "off", "null", "none", "nil", "~", "|", ">", "|-", ">-",
}

// Of returns the secrets of a run and its contenders, by their names and places in variables,
// headers, build arguments, command lines, requests and URLs.
func Of(run bench.Run, services []bench.Service) []string {
	var f finder
	ofNeeds := func(all []bench.NeedSpec) []bench.NeedSpec {
		for _, n := range all {
			f.need(n)
		}
		return nil
	}
	run.Profile.Needs = ofNeeds(run.Profile.Needs)
	f.in(run)
	for _, s := range services {
		s.Needs = ofNeeds(s.Needs)
		f.in(s)
	}
	return f.values
}

// finder collects secrets.
type finder struct{ values, texts []string }

// in adds the secrets in v.
func (f *finder) in(v any) {
	walk{text: func(text string, parts []span) string {
		for _, x := range parts {
			f.secret(text[x.from:x.to], x.user)
		}
		f.texts = append(f.texts, masked(text, parts))
		return text
	}}.of(v)
}

// need adds the secrets of a need, but for those that are part of another text there, such as the name
// of the image: these are masked in their places only.
func (f *finder) need(n bench.NeedSpec) {
	var own finder
	own.in(n)
	for _, value := range own.values {
		partOf := func(text string) bool { return text != value && strings.Contains(text, value) }
		if strings.Contains(n.URL, value) || !slices.ContainsFunc(own.texts, partOf) {
			f.add(value)
		}
	}
}

// secret adds a value, and what follows "Bearer" or "Basic" in it; of an address the password, and with
// it the user, as HTTP sends them.
func (f *finder) secret(v string, user bool) {
	if i := strings.IndexAny(v, ":/"); user && i >= 0 {
		f.secret(v[i+1:], false)
		if len(bench.EnvNames(v)) > 0 {
			return
		}
	}
	f.add(v)
	if _, bare, ok := strings.Cut(v, " "); ok {
		f.add(bare)
	}
	if plain, err := url.PathUnescape(v); user && err == nil && plain != v {
		f.secret(plain, true)
	}
}

// add adds a value. One with a template in it does not count: what fills it in is found at its source.
func (f *finder) add(value string) {
	_, secrets := around(value)
	for _, v := range secrets {
		if !harmless(v) && !strings.Contains(v, "{{") && !slices.Contains(f.values, v) {
			f.values = append(f.values, v)
		}
	}
}
