package container

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/locbench/locbench/internal/needs"
	"github.com/locbench/locbench/internal/text/safe"
)

// signIn is a command of an image that signs in as the user of the need, over the network: the
// checks of the images succeed with a wrong password.
type signIn struct {
	Command  shell  // with NAME, PORT, USER and DATABASE; words that are empty then are left out
	Password string // variable for the password
}

// refusal is the error of a service that responds and refuses a user.
type refusal struct{ who, line, remedy string }

func (r refusal) Error() string {
	return fmt.Sprintf("responds, but refuses %s: %s; %s", r.who, r.line, r.remedy)
}

// refuses matches what clients say of a user that was refused.
var refuses = regexp.MustCompile(`(?i)authentication failed|access denied for user|WRONGPASS|no pg_hba\.conf entry|role "[^"]*" does not exist`)

// refusing returns the line of an output that says that a user was refused; "": none.
func refusing(output string) string {
	for line := range strings.Lines(output) {
		if refuses.MatchString(line) {
			return strings.TrimSpace(line)
		}
	}
	return ""
}

// asUser adds to a check of the preset that the service accepts its user. What else may fail, such
// as a client that the image does not have, does not count.
func (n *Need) asUser(c needs.Container, of check) check {
	in := n.preset.SignIn
	if in.Command == nil {
		return of
	}
	l := n.login(n.env)
	var command []string
	for _, word := range replaced(named(n.name, n.ports[mainPort]), in.Command) {
		switch word {
		case "USER":
			word = l.User
		case "DATABASE":
			word = l.Database
		}
		if word != "" {
			command = append(command, word)
		}
	}
	return check{of.what, func(ctx context.Context) error {
		if err := of.do(ctx); err != nil {
			return err
		}
		output, code, err := c.Exec(ctx, command, map[string]string{in.Password: l.Password}, nil)
		if line := refusing(output); err == nil && code != 0 && line != "" {
			return refusal{"user " + l.User, safe.Line(line, rowBytes),
				"its `environment` must name the user and password that it has after its seed"}
		}
		return err
	}}
}

// signsIn returns an error unless a command of the profile succeeds without being refused: some
// succeed then, too.
func (n *Need) signsIn(ctx context.Context, c needs.Container, command []string) error {
	output, err := runs(ctx, c, command)
	if line := refusing(output); line != "" && !errors.Is(err, errNoCommand) {
		what := safe.Line(masked(command), rowBytes)
		return refusal{"the user of " + what, safe.Line(line, rowBytes), "correct its user or password"}
	}
	return err
}
