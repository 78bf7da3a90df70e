package results

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// following is a Follow that runs in a goroutine.
type following struct {
	seqs chan int64
	done chan struct{}
	bad  int64
	err  error
}

func followLog(t *testing.T, dir string) *following {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	l := &following{seqs: make(chan int64, 1000), done: make(chan struct{})}
	go func() {
		defer close(l.done)
		l.bad, l.err = Follow(ctx, dir, func(batch []bench.Record) error {
			for _, rec := range batch {
				l.seqs <- rec.Seq
			}
			return nil
		})
	}()
	t.Cleanup(func() { cancel(); <-l.done })
	return l
}

// expect waits for the next records.
func (l *following) expect(t *testing.T, seqs ...int64) {
	t.Helper()
	for _, want := range seqs {
		select {
		case got := <-l.seqs:
			testenv.Need(t, got == want, "event %d, want %d", got, want)
		case <-time.After(time.Minute):
			t.Fatalf("no event %d", want)
		}
	}
}

// end waits until Follow has returned, and fails if there are further events.
func (l *following) end(t *testing.T) error {
	t.Helper()
	select {
	case <-l.done:
	case <-time.After(time.Minute):
		t.Fatal("Follow does not return")
	}
	select {
	case seq := <-l.seqs:
		t.Errorf("event %d was not expected", seq)
	default:
	}
	return l.err
}

func TestFollowALogThatGrows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		w := mustCreate(t, dir)
		trial := plan().Trials[0].Trial
		feed(w, 1, nil, bench.RunStarted{Run: plan(), Dir: dir})
		l := followLog(t, dir)
		l.expect(t, 1)
		feed(w, 2, &trial, bench.TrialStarted{}, step(0))
		l.expect(t, 2, 3)
		testenv.OK(t, testenv.Err(w.events.WriteString(`{"seq":4,"at":"2026-11-21T08:00:00Z","type":"pau`)))
		testenv.OK(t, testenv.Err(w.events.WriteString(`sed","event":{}}`+"\n")))
		l.expect(t, 4)
		feed(w, 5, &trial, bench.TrialEnded{State: bench.TrialComplete})
		feed(w, 6, nil, bench.RunEnded{State: bench.RunComplete})
		l.expect(t, 5, 6)

		// Reports are written after the last event: the end is when the writer closes the log.
		testenv.Check(t, Running(dir), "Running is false with a writer")
		select {
		case <-l.done:
			t.Error("the end was reported before the writer closed the log")
		case <-time.After(4 * followEvery):
		}
		w.Close()
		err := l.end(t)
		testenv.Check(t, err == nil && l.bad == 0, "error %v, %d bad lines", err, l.bad)
		testenv.Check(t, !Running(dir), "Running is true without a writer")
	})
}

func TestFollowAResumedRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		w := mustCreate(t, dir)
		feed(w, 1, nil, bench.RunStarted{Run: plan(), Dir: dir}, bench.RunEnded{State: bench.RunInterrupted})
		w.Close()
		ended := followLog(t, dir)
		ended.expect(t, 1, 2)
		err := ended.end(t)
		testenv.Check(t, err == nil, "error %v", err)
		w = mustReopen(t, dir, plan())
		l := followLog(t, dir)
		l.expect(t, 1, 2)
		feed(w, 3, nil, bench.RunStarted{Run: plan(), Dir: dir})
		l.expect(t, 3)
		w.Close() // killed
		err = l.end(t)
		testenv.Check(t, errors.Is(err, ErrKilled), "error %v, want that the run was killed", err)
	})
}

func TestFollowSkipsLinesThatAreNotRecords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		good := func(seq int64, e bench.Event) string {
			line := testenv.Must(json.Marshal(bench.Record{Seq: seq, At: at, Event: e}))(t)
			return string(line) + "\n"
		}
		log := good(1, bench.Paused{}) + "\x00\x1b[2J\n\n" + `{"seq":2,"type":"from the future","event":{}}` + "\n" +
			strings.Repeat("x", maxLine+100) + "\n" + good(3, bench.RunEnded{}) + `{"seq":4,"ty`
		testenv.OK(t, os.WriteFile(filepath.Join(dir, EventsFile), []byte(log), 0o600))
		l := followLog(t, dir)
		l.expect(t, 1, 3)
		err := l.end(t)
		testenv.Check(t, err == nil && l.bad == 3, "error %v, %d bad lines, want 3", err, l.bad)
	})
}

func TestFollowEndsEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		_, err := Follow(t.Context(), dir, nil)
		testenv.Check(t, errors.Is(err, os.ErrNotExist), "without a log: %v", err)
		w := mustCreate(t, dir)
		feed(w, 1, nil, bench.Paused{})
		enough := errors.New("enough")
		_, err = Follow(t.Context(), dir, func([]bench.Record) error { return enough })
		testenv.Check(t, err == enough, "error %v, want the handler's", err)
		ctx, cancel := context.WithCancelCause(t.Context())
		_, err = Follow(ctx, dir, func([]bench.Record) error { cancel(enough); return nil })
		testenv.Check(t, err == enough, "error %v, want the context's", err)
		cut := followLog(t, dir)
		cut.expect(t, 1)
		testenv.OK(t, w.events.Truncate(3))
		testenv.Fails(t, cut.end(t), "became shorter")
	})
}

// FuzzFollow checks that a log gives the same records in pieces of any size.
func FuzzFollow(f *testing.F) {
	event, _ := json.Marshal(bench.Record{Seq: 7, At: at, Event: step(2)})
	ended, _ := json.Marshal(bench.Record{Seq: 8, At: at, Event: bench.RunEnded{}})
	f.Add(slices.Concat(event, []byte("\n"), ended, []byte("\n")), 5)
	f.Add(slices.Concat(event, []byte("\r\n{}\n\n"), ended), 1)
	f.Add([]byte(`{"seq":-1,"type":"run_ended","event":null}`), 1000)
	f.Fuzz(func(t *testing.T, log []byte, size int) {
		size = 1 + max(0, size%4096)
		var want, got []int64
		for _, line := range bytes.Split(log, []byte("\n")) {
			var r bench.Record
			if len(line) <= maxLine && json.Unmarshal(line, &r) == nil {
				want = append(want, r.Seq)
			}
		}
		l := &follower{handle: func(batch []bench.Record) error {
			for _, r := range batch {
				got = append(got, r.Seq)
			}
			return nil
		}}
		for piece := range slices.Chunk(log, size) {
			testenv.OK(t, l.add(piece))
		}
		err := errors.Join(l.flush(), l.finish())
		testenv.Need(t, err == nil || errors.Is(err, ErrKilled), "%v", err)
		testenv.Equal(t, got, want, "reported")
	})
}

// A line may be as long as maxLine; records come in batches of followBatch; an error of who gets them is returned, also
// about the last line, which has no end.
func TestFollowBounds(t *testing.T) {
	record := testenv.Must(json.Marshal(bench.Record{Seq: 1, At: at, Event: step(0)}))(t)
	long := append(bytes.Repeat([]byte(" "), maxLine-len(record)), record...)
	var batches []int
	l := &follower{handle: func(b []bench.Record) error { batches = append(batches, len(b)); return nil }}
	for _, piece := range [][]byte{long[:1000], long[1000:], []byte("\n "), long, []byte("\n")} {
		testenv.OK(t, l.add(piece))
	}
	testenv.OK(t, l.flush())
	testenv.Equal(t, l.bad, 1, "the one that is longer by a byte")
	testenv.OK(t, l.add(bytes.Repeat(append(record, '\n'), followBatch+1)))
	testenv.Equal(t, batches, []int{1, followBatch})

	full := errors.New("full")
	for _, text := range []string{string(record), string(record) + "\n"} {
		l := &follower{handle: func([]bench.Record) error { return full }}
		err := errors.Join(l.add([]byte(text)), l.finish())
		if strings.HasSuffix(text, "\n") {
			err = errors.Join(err, l.flush())
		}
		testenv.Check(t, errors.Is(err, full), "%q: %v", text[len(text)-2:], err)
	}
}
