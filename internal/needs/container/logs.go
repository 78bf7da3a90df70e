package container

import (
	"regexp"
	"strings"
	"sync"
)

// remedies are lines of the logs of known services that say what limits them, with what to do.
var remedies = []struct {
	line *regexp.Regexp
	what string
	ends bool // what it says may end the service
}{
	{regexp.MustCompile(`(?i)too many (clients|connections)|remaining connection slots are reserved|max number of clients reached`),
		"raise its number of connections (max_connections, maxclients), or use smaller pools", false},
	{regexp.MustCompile(`(?i)could not resize shared memory|could not map anonymous shared memory`), "raise `shm_size`", true},
	{regexp.MustCompile(`(?i)no space left on device|disk full`), "its disk is full: free disk space on the machine of the container engine", true},
	{regexp.MustCompile(`MISCONF`), "it could not save to disk and refuses writes: free disk space, or start it without saving", false},
	{regexp.MustCompile(`(?i)authentication failed|access denied for user|WRONGPASS|SASL authentication.*fail`),
		"use {{.Needs.NAME.User}} and {{.Needs.NAME.Password}} in the manifest of the contender", false},
	{regexp.MustCompile(`(?i)read-only-allow-delete|index read-only|flood.stage disk watermark`),
		"free disk space: above its watermark, its indices are read-only", false},
}

// why returns what to do about lines with a known reason to end, before them; "" for others.
func why(lines []string) string {
	for _, line := range lines {
		for _, r := range remedies {
			if r.ends && r.line.MatchString(line) {
				return "; " + r.what
			}
		}
	}
	return ""
}

// note is a line of a log with a remedy.
type note struct{ line, what string }

// notes are what the log of a service says to its users, and how often a line came that says that
// it is ready.
type notes struct {
	mu     sync.Mutex
	known  map[string]bool // remedies that were reported
	unread []note
}

// heard counts the lines of one start that have a text.
type heard struct {
	notes *notes
	text  string
	found int
}

// begin begins to read the log of a start; text is what counts, "" for nothing.
func (n *notes) begin(text string) *heard { return &heard{notes: n, text: text} }

func (h *heard) count() int {
	h.notes.mu.Lock()
	defer h.notes.mu.Unlock()
	return h.found
}

// hear reads a line of a log.
func (n *notes) hear(h *heard, line string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if h.text != "" && strings.Contains(line, h.text) {
		h.found++
	}
	for _, r := range remedies {
		if r.line.MatchString(line) && !n.known[r.what] {
			if n.known == nil {
				n.known = map[string]bool{}
			}
			n.known[r.what] = true
			n.unread = append(n.unread, note{line, r.what})
		}
	}
}

// forget forgets what was read, such as what a first start says.
func (n *notes) forget() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.known, n.unread = nil, nil
}

// take returns what was read since the last call.
func (n *notes) take() []note {
	n.mu.Lock()
	defer n.mu.Unlock()
	all := n.unread
	n.unread = nil
	return all
}
