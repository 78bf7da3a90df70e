package app

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/load"
	"github.com/locbench/locbench/internal/run/runner"
	"github.com/locbench/locbench/internal/text/console"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/secret"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

// tally counts the exchanges with a contender.
type tally struct {
	label      string
	expected   int
	rejected   []string // of these, those statuses that are not throughput
	unread     int      // neither: the body was to be checked, and was not looked at
	unexpected int
	first      string // the first of these, with its reason
	failure    string // how its trial ended; "": as expected
}

// text returns the counts in words.
func (t *tally) text() string {
	if t.expected+t.unexpected+t.unread == 0 {
		return cmp.Or(t.failure, "no requests")
	}
	text := units.Plural(t.expected, "request") + " as expected"
	if n := len(t.rejected); n > 0 {
		statuses := slices.Compact(slices.Sorted(slices.Values(t.rejected)))
		text += fmt.Sprintf(" (%d rejected: %s)", n, strings.Join(statuses, ", "))
	}
	if t.unread > 0 {
		text += fmt.Sprintf(", %d not looked at", t.unread)
	}
	if t.unexpected > 0 {
		return text + fmt.Sprintf(", %d not; the first: %s", t.unexpected, t.first)
	}
	if t.failure != "" {
		text += "; " + t.failure
	}
	return text
}

// tally returns the tally of the trial in progress.
func (t *attempt) tally() *tally {
	for _, one := range t.tallies {
		if one.label == t.trial {
			return one
		}
	}
	t.tallies = append(t.tallies, &tally{label: t.trial})
	return t.tallies[len(t.tallies)-1]
}

// count adds an exchange.
func (t *attempt) count(title string, a load.Asked) {
	of := t.tally()
	if a.Err != nil {
		of.wrong(title + ": " + a.Err.Error())
		return
	}
	if a.Unread != "" {
		of.unread++
		return
	}
	of.expected++
	for _, r := range t.requests {
		if r.Name == a.Request && slices.Contains(r.Rejections(), a.Response.Status) {
			of.rejected = append(of.rejected, fmt.Sprint(a.Response.Status))
		}
	}
}

func (t *tally) wrong(reason string) {
	if t.unexpected++; t.unexpected == 1 {
		t.first = reason
	}
}

// unsent prints why a request or session was not sent.
func (t *attempt) unsent(name string, err error) {
	t.stream.Settle()
	t.printing.Lock()
	defer t.printing.Unlock()
	t.tally().wrong("not sent: " + err.Error())
	fmt.Fprintf(t.out, "\n%s: %s\n  FAILED: not sent: %s\n", safe.Line(t.trial, 60),
		safe.Line(t.mask().Text(name), 200), safe.Line(t.mask().Text(err.Error()), 1000))
}

// untried adds the contenders whose trials did not begin, since none could be built.
func (t *attempt) untried(err error) {
	inc, ok := errors.AsType[*runner.Incomplete](err)
	if !ok || len(t.tallies) > 0 {
		return
	}
	for _, failure := range inc.Failures {
		if of, ok := errors.AsType[*runner.TrialError](failure); ok {
			t.tallies = append(t.tallies, &tally{label: of.Trial.Label(), failure: notBuilt})
		}
	}
}

// summary prints the counts of each contender.
func (t *attempt) summary() {
	t.printing.Lock()
	defer t.printing.Unlock()
	if len(t.tallies) == 0 {
		return
	}
	fmt.Fprintln(t.out, "\nsummary")
	for _, of := range t.tallies {
		fmt.Fprintf(t.out, "  %s: %s\n", safe.Line(of.label, 60), safe.Line(t.mask().Text(of.text()), 1000))
	}
}

// selected are the requests and sessions that a user has chosen by their names.
type selected struct {
	all      bool
	requests map[string]bool // the names of requests to print
	sent     map[string]bool // the names of single requests and sessions to send
}

// sends reports whether a single request or session is sent.
func (s selected) sends(name string) bool { return s.all || s.sent[name] }

// shows reports whether a request is printed.
func (s selected) shows(request string) bool { return s.all || s.requests[request] }

// newSelected finds names in a profile.
func newSelected(p bench.Profile, names []string) (selected, error) {
	s := selected{all: len(names) == 0, requests: map[string]bool{}, sent: map[string]bool{}}
	mixed := len(p.Requests)
	var known []string
	for _, name := range names {
		found := false
		for i, r := range slices.Concat(p.Requests, p.Setup, p.Teardown) {
			short := strings.TrimPrefix(r.Name, r.Session+": ")
			known = append(known, short)
			if !slices.Contains([]string{r.Name, short, r.Session}, name) {
				continue
			}
			found, s.requests[r.Name] = true, true
			if i < mixed {
				s.sent[cmp.Or(r.Session, r.Name)] = true
			}
		}
		for _, session := range p.Sessions {
			known = append(known, session.Name)
		}
		if !found {
			slices.Sort(known)
			return s, console.Usagef("--only %s: %s", safe.Shell([]string{name}),
				strictyaml.Suggest(name, "the names of its requests and sessions", slices.Compact(known)))
		}
	}
	return s, nil
}

// cookieAttributes are those of a cookie whose values are not secret.
var cookieAttributes = []string{"path", "domain", "expires", "max-age", "samesite", "httponly", "secure", "partitioned"}

// masked returns a message without secrets, but with the names of its cookies.
func (t *attempt) masked(text string) string {
	mask := t.mask()
	head, body, whole := strings.Cut(strings.ReplaceAll(text, "\r\n", "\n"), "\n\n")
	lines := strings.Split(head, "\n")
	for i, line := range lines {
		lines[i] = cookieLine(mask, line)
	}
	text = strings.Join(lines, "\n")
	if whole {
		text += "\n\n" + mask.Text(body)
	}
	return text
}

// cookieLine masks a line of a head. Of cookies only the values are masked.
func cookieLine(mask secret.Masker, line string) string {
	name, value, ok := strings.Cut(line, ":")
	set := strings.EqualFold(name, "Set-Cookie")
	if !ok || !set && !strings.EqualFold(name, "Cookie") {
		return mask.Text(line)
	}
	parts := strings.Split(strings.TrimSpace(value), ";")
	for i, part := range parts {
		key, value, assigned := strings.Cut(strings.TrimSpace(part), "=")
		attribute := set && i > 0 && slices.Contains(cookieAttributes, strings.ToLower(key))
		switch {
		case attribute && assigned:
			parts[i] = key + "=" + mask.Text(value)
		case attribute:
			parts[i] = key
		case assigned && value == "":
			parts[i] = mask.Text(key) + "="
		case assigned:
			parts[i] = mask.Text(key) + "=" + secret.Mask
		default:
			parts[i] = secret.Mask
		}
	}
	return name + ": " + strings.Join(parts, "; ")
}
