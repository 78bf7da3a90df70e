package safe

import (
	"regexp"
	"strings"
)

// plainWord matches a word that needs no quotes. "=" at the beginning has a meaning in zsh.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9_@%+:,./…-][A-Za-z0-9_@%+=:,./…-]*$`)

// Shell returns a command line, on one line, that a POSIX shell reads as exactly these arguments.
// It drops control characters.
func Shell(args []string) string {
	words := make([]string, len(args))
	for i, arg := range args {
		arg = strings.Map(func(r rune) rune {
			if r < 0x20 || r >= 0x7f && r < 0xa0 {
				return -1
			}
			return r
		}, arg)
		if !plainWord.MatchString(arg) {
			arg = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
		words[i] = arg
	}
	return strings.Join(words, " ")
}
