package secret

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// network matches what follows the user info of an address without a scheme: a protocol with its
// address in parentheses, as in Go's drivers, the two slashes of Oracle, an IPv6 address, or a host
// with what may follow a host.
var network = regexp.MustCompile(`^(?:[a-zA-Z0-9]*\(|//|\[[0-9a-fA-F:.]+\]|` +
	`([a-zA-Z0-9](?:[a-zA-Z0-9_.-]*[a-zA-Z0-9])?)(:[0-9]{1,5}\b|/)?)`)

// noUsers are words before a colon that are not users: the address after it is not a server, or it
// is a package with its version.
var noUsers = []string{"mailto", "sip", "sips", "xmpp", "acct", "npm", "pkg"}

// userInfoOf finds the user info of an address without a scheme in a word, as in
// root:secret@tcp(db:3306)/x and scott/tiger@db:1521. It is word[from:at], before an @.
func userInfoOf(word string) (from, at int, ok bool) {
	for at = len(word); at >= 0; {
		if at = strings.LastIndexByte(word[:at], '@'); at < 0 {
			return 0, 0, false
		}
		if isNetwork(word[at+1:]) {
			break
		}
	}
	before := word[:at]
	if i := strings.LastIndex(before, "://"); i >= 0 {
		// An @ in the path of a URL, unless another address follows it.
		from = strings.LastIndexAny(before, "/?#=&,;") + 1
		return from, at, strings.Contains(before[from:], ":")
	}
	sep := strings.IndexAny(before, ":/")
	if sep < 0 {
		return 0, 0, false
	}
	from = strings.LastIndexAny(before[:sep], "=&?;,({[#") + 1
	user, rest := before[from:sep], before[sep+1:]
	if before[sep] == '/' { // elsewhere a path
		return from, at, user != "" && !strings.Contains(rest, "/")
	}
	return from, at, !slices.Contains(noUsers, strings.ToLower(user))
}

// isNetwork reports whether text begins with the address of a server, not with a version or digest
// as after the @ of packages and images.
func isNetwork(text string) bool {
	m := network.FindStringSubmatch(text)
	if m == nil {
		return false
	}
	host, after := m[1], m[2]
	letters := strings.ContainsFunc(host, unicode.IsLetter)
	version := strings.HasPrefix(host, "v") && len(host) > 1 && host[1] >= '0' && host[1] <= '9'
	switch {
	case host == "", host == "localhost":
		return true
	case strings.HasPrefix(host, "sha") && strings.HasPrefix(text[len(host):], ":"): // a digest
		return false
	case strings.HasPrefix(after, ":"):
		return true
	case after == "/":
		return letters && !version
	case strings.Count(host, ".") == 3 && !letters:
		return true
	}
	label := host[strings.LastIndexByte(host, '.')+1:]
	other := strings.ContainsFunc(label, func(r rune) bool { return !unicode.IsLetter(r) })
	return len(label) < len(host) && len(label) > 1 && !version && !other
}

var word = regexp.MustCompile(`[^ \t\n\v\f\r"'<>]+`)

// maskUserInfo masks the user info of addresses without a scheme.
func maskUserInfo(s string) string {
	return word.ReplaceAllStringFunc(s, func(word string) string {
		if from, at, ok := userInfoOf(word); ok && !exampleUser.MatchString(word[from:at]) {
			return word[:from] + Mask + word[at:]
		}
		return word
	})
}
