package secret

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/bench"
)

// named matches a name and its value: in JSON, YAML or a header after a colon, in a query, a form or a
// list of settings after an equals sign, as an option after a blank. \x00 is between the words of a
// command. A place of a variable, which comes first, has no name.
var named = regexp.MustCompile(`\$?\{[\w.-]+(?::(?:raw|number|json))?\}|(-{0,2}[A-Za-z_][\w.-]*)(?:` +
	`(\\*["']?[ \t]*)(?:=>?[ \t]*(?:` + quoted + `|([^\s"'&;#<>\x00]+))|` +
	`:[ \t]*(?:` + quoted + `|` + scheme + `?((?:\$?\{[\w.:-]+\}|[^\s"'<>,{}\[\]\x00])+)))|` +
	`[ \t]+(?:` + quoted + `|([^\s"'\x00-][^\s"'\x00]*))|\x00([^\x00-][^\x00]*))`)

const (
	// a text in quotes, which may themselves be escaped, or a list of such texts; either may be cut off
	quoted = `"((?:[^"\\]|\\.)*)|'([^']*)|\\+"(.*?)(?:\\+"|$)|\[((?:[^\[\]"']|"(?:[^"\\]|\\.)*"|'[^']*')*)`
	scheme = `(?:(?i:bearer|basic)[ \t]+)`
)

const colonGroup = 24 // of a value without quotes after a colon, in the indices of a match

var (
	// pathTo matches an entry that says where a secret is: {cookie: sid}, {token: data.access_token}.
	pathTo = regexp.MustCompile(`(?i)^(?:cookie: [\w-]+|[\w-]+: (?:[\w.-]*[._-])?(?:token|cookie|secret|password|jwt|key))$`)
	// element matches an element of a list.
	element = regexp.MustCompile(`"(?:[^"\\]|\\.)+"|'[^']+'|[^\s,"']+`)
	// unnamed match secrets without such a name: what follows an authentication scheme in a header of any
	// name, the password of a user in SQL, and options of the programs of databases.
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

func ofTool(name, option string) *regexp.Regexp {
	return regexp.MustCompile(`(?:^|[\s;&|("'/\x00])` + name + `(?:[\s\x00][^;&|\n]*?)?[\s\x00]` + option + `["']?([^\s"';&|)\x00]+)`)
}

// find returns the secrets of a text by their names and places: they may overlap. Of a command each word
// has \x00 before it.
func find(s string, command bool) (all []span) {
	for at := 0; strings.ContainsAny(s[at:], "=:-"); {
		m := named.FindStringSubmatchIndex(s[at:])
		if m == nil {
			break
		}
		if m[2] < 0 { // a place
			at += m[1]
			continue
		}
		from, end := at+m[2], at+m[3]
		name, group := s[from:end], 6
		for m[group] < 0 {
			group += 2
		}
		x := span{from: at + m[group], to: at + m[group+1]}
		isName, option := assigned, s[from] == '-'
		if option || command && s[from-1] == 0 {
			isName = Name
		}
		at = end
		if m[4] < 0 && !option || !isName(name) || strings.HasPrefix(s[x.from:], "//") {
			continue
		}
		if group == colonGroup {
			if restOfLine(s[:from], name) {
				x.to = x.from + len(strings.TrimRight(s[x.from:until(s, x.from, "\n\"'\x00")], " \t\r"))
			} else if pathTo.MatchString(s[from:x.to]) && inBraces(s[:from]) {
				continue
			}
		}
		at = x.to
		if s[x.from-1] != '[' {
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
	for _, of := range unnamed {
		for _, m := range of.FindAllStringSubmatchIndex(s, -1) {
			if x := (span{from: max(m[2], m[len(m)-2]), to: max(m[3], m[len(m)-1])}); !noToken.MatchString(s[x.from:x.to]) {
				all = append(all, x)
			}
		}
	}
	return append(all, users(s)...)
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

const place = `(?:\$\{[A-Za-z0-9_]+\}|\{[A-Za-z_][\w.-]*(?::[a-z]+)?\})`

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
