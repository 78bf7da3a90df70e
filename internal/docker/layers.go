package docker

import (
	"fmt"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench/units"
)

const (
	maxLayers   = 1000
	layersEvery = time.Second // between two lines of progress
)

// layers sums up, in one line, the progress that the engine reports for each layer of a pulled
// image some hundred times a second.
type layers struct {
	show  func(line string)
	now   func() time.Time
	byID  map[string]layer
	last  time.Time
	shown string
}

type layer struct {
	done, total int64 // downloaded bytes; total is 0 while unknown
	unpacked    bool
}

// take adds one message about a layer. It returns false for a message about something else.
func (l *layers) take(m message) (ok bool) {
	if m.ID == "" || m.Status == "" || strings.HasPrefix(m.Status, "Pulling from") {
		return false
	}
	one, known := l.byID[m.ID]
	if !known && len(l.byID) == maxLayers {
		return true
	}
	switch m.Status {
	case "Downloading":
		one.done, one.total = max(0, m.Detail.Current), max(0, m.Detail.Total)
	case "Verifying Checksum", "Download complete", "Extracting":
		one.done = one.total
	case "Pull complete", "Already exists":
		one.done, one.unpacked = one.total, true
	}
	l.byID[m.ID] = one
	if now := l.now(); now.Sub(l.last) >= layersEvery {
		l.last = now
		l.flush()
	}
	return true
}

// flush shows the progress if it has changed.
func (l *layers) flush() {
	var done, total int64
	unpacked := 0
	for _, one := range l.byID {
		done, total = done+min(one.done, one.total), total+one.total
		if one.unpacked {
			unpacked++
		}
	}
	text := fmt.Sprintf("%d of %d layers ready", unpacked, len(l.byID))
	if total > 0 {
		text += fmt.Sprintf(", %s of %s downloaded", units.Bytes(done), units.Bytes(total))
	}
	if text != l.shown && len(l.byID) > 0 {
		l.shown = text
		l.show(text)
	}
}
