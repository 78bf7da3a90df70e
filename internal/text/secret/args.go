package secret

import (
	"slices"
	"strings"
)

// argument is one argument of a command line.
type argument struct {
	before string // the part before the value: "--token="
	value  string // the rest
	secret bool   // all of value is secret
	user   bool   // value is a user with a password
}

// readArgs finds the secret arguments: values of options with a secret name, in the same word or
// the next one, values of variables with a secret name, and a user with a password after -u.
func readArgs(argv []string) []argument {
	out := make([]argument, len(argv))
	next, user := false, false
	of := slices.IndexFunc(passwordTools, func(t passwordTool) bool { return t.of(argv) })
	for i, arg := range argv {
		name, value, assigned := strings.Cut(arg, "=")
		option := strings.HasPrefix(arg, "-")
		isUserOption := name == "-u" || name == "--user" || name == "--proxy-user"
		glued := ""
		if strings.HasPrefix(arg, "-u") && !strings.HasPrefix(arg, "--") {
			glued = arg[2:]
		}
		glue := ""
		if of >= 0 && passwordTools[of].glued && strings.HasPrefix(arg, passwordTools[of].option) {
			glue = passwordTools[of].option
		}
		switch {
		case glue != "" && arg != glue:
			out[i] = argument{glue, arg[len(glue):], true, false}
		case next && !option:
			out[i] = argument{"", arg, true, false}
		case user && isUser(arg):
			out[i] = argument{"", arg, true, true}
		case assigned && value != "" && !strings.ContainsAny(name, "/?&: ") && Name(name):
			out[i] = argument{name + "=", value, true, false}
		case assigned && isUserOption && isUser(value):
			out[i] = argument{name + "=", value, true, true}
		case !assigned && isUser(glued):
			out[i] = argument{"-u", glued, true, true}
		default:
			out[i] = argument{"", arg, false, false}
			if option && assigned { // the value may be a URL
				out[i] = argument{name + "=", value, false, false}
			}
		}
		next, user = option && !assigned && Name(name), isUserOption && !assigned
		next = next || of >= 0 && !passwordTools[of].glued && arg == passwordTools[of].option
	}
	return out
}

// Args masks a command line.
func (m Masker) Args(argv []string) []string {
	out := make([]string, len(argv))
	for i, a := range readArgs(argv) {
		if out[i] = m.Text(argv[i]); a.secret && a.value != "" {
			out[i] = a.before + around(a.value)
			if user, password, _ := strings.Cut(a.value, ":"); a.user && around(password) != Mask {
				out[i] = a.before + user + ":" + around(password)
			}
		}
	}
	return out
}
