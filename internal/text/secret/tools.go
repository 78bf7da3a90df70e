package secret

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// sqlSecret matches the password of a user in SQL.
var sqlSecret = regexp.MustCompile(`(?i)\b(?:password|identified\s+(?:with\s+[\w"'` + "`" + `]+\s+)?(?:by|as)(?:\s+password)?)\s+(?:e?'((?:[^']|'')+)'|"((?:[^"]|"")+)")`)

// passwordTool is a program with an option for a password that has no name of one.
type passwordTool struct {
	names  []string
	option string
	glued  bool // the password is in the same word
	text   *regexp.Regexp
}

var passwordTools = []passwordTool{
	tool("-p", true, "mysql", "mysqldump", "mysqladmin", "mysqlimport", "mysqlcheck", "mysqlshow", "mysqlslap",
		"mariadb", "mariadb-dump", "mariadb-admin", "mariadb-import", "mariadb-check", "mariadb-show", "mariadb-slap"),
	tool("-a", false, "redis-cli", "valkey-cli"),
	tool("-p", false, "mongosh", "mongo", "mongoimport", "mongorestore", "mongodump", "mongoexport"),
}

func tool(option string, glued bool, names ...string) passwordTool {
	between := `\s+`
	if glued {
		between = ""
	}
	return passwordTool{names, option, glued, regexp.MustCompile(
		`(?:^|[\s;&|("'/])(?:` + strings.Join(names, "|") + `)(?:\s[^;&|\n]*?)?\s` + option + between + `("[^"\n]+"|'[^'\n]+'|[^\s"';&|)]+)`)}
}

// of reports whether a command runs the program.
func (t passwordTool) of(argv []string) bool {
	return len(argv) > 0 && slices.Contains(t.names, path.Base(argv[0]))
}

// ofTools finds the passwords in SQL, and those of programs in a line for a shell.
func ofTools(s string) (all []span) {
	if !strings.ContainsAny(s, `'" `) {
		return nil
	}
	for _, m := range sqlSecret.FindAllStringSubmatchIndex(s, -1) {
		i := 2
		if m[i] < 0 {
			i = 4
		}
		all = append(all, span{m[i], m[i+1]})
	}
	if !strings.Contains(s, " -") {
		return all
	}
	for _, t := range passwordTools {
		for _, m := range t.text.FindAllStringSubmatchIndex(s, -1) {
			all = append(all, span{m[2], m[3]})
		}
	}
	return all
}
