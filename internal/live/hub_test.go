package live

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"locbench/internal/bench"
)

// FuzzTake folds whatever an event log holds.
func FuzzTake(f *testing.F) {
	for _, seed := range []string{
		`{"seq":1,"type":"leg_started","event":{"number":1,"of":2}}`,
		`{"seq":1,"type":"leg_ended","event":{"state":"complete"}}`,
		`{"seq":1,"leg":{"contender":"x","round":1},"type":"leg_ended","event":{}}` + "\n" + `{"seq":2,"leg":{"contender":"x","round":1},"type":"leg_started","event":{}}`,
		`{"seq":1,"type":"progress","event":{"done":9223372036854775807,"total":1}}`,
		`{"seq":-1,"type":"window_closed","event":{"window":{"length_ns":-1,"succeeded":-1}}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, log []byte) {
		h := &hub{changed: make(chan struct{})}
		for line := range bytes.Lines(log) {
			var rec bench.Record
			if json.Unmarshal(line, &rec) != nil {
				continue
			}
			if err := h.take([]bench.Record{rec}); err != nil {
				t.Fatal(err)
			}
		}
		if s, _, _ := h.now(); len(s.Text) > 1000 {
			t.Errorf("%d bytes of text", len(s.Text))
		}
	})
}

// TestHub_FollowsAgain: what nobody writes to is looked at every second, and is read on when
// somebody does. Pages come no oftener than every two seconds.
func TestHub_FollowsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		began := time.Now()
		var from []string
		h := &hub{changed: make(chan struct{})}
		leg := bench.Leg{Contender: "a", Round: 1}
		options := Options{
			Running: func() bool { return time.Since(began) >= 5*time.Second },
			Follow: func(ctx context.Context, seq int64, handle func([]bench.Record) error) error {
				from = append(from, fmt.Sprint(time.Since(began), " ", seq))
				switch len(from) {
				case 1:
					return nil // there is no log
				case 2:
					_ = handle([]bench.Record{{Seq: 7, Leg: &leg, Event: bench.StepEnded{}}})
					return errors.New("line 8 is broken")
				}
				for seq++; ; seq++ {
					if err := handle([]bench.Record{{Seq: seq, Leg: &leg, Event: bench.StepEnded{}}}); err != nil {
						return err
					}
					select {
					case <-time.After(500 * time.Millisecond):
					case <-ctx.Done():
						return ctx.Err()
					}
				}
			},
		}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			h.follow(ctx, options)
		}()
		at := func(since time.Duration, text string, live bool) (page int64) {
			t.Helper()
			time.Sleep(since - time.Since(began))
			synctest.Wait()
			st, page, _ := h.now()
			if st.Text != text || st.Live != live {
				t.Errorf("after %v: %+v, want %q", since, st, text)
			}
			return page
		}
		at(100*time.Millisecond, "no event log: the results as they are", false)
		at(5100*time.Millisecond, "line 8 is broken", false)
		first := at(10100*time.Millisecond, "line 8 is broken", true)
		if last := at(20100*time.Millisecond, "line 8 is broken", true); last-first != 5 {
			t.Errorf("%d pages in ten seconds, of results that change twice a second", last-first)
		}
		cancel()
		<-ended
		if want := []string{"0s 0", "5s 0", "6s 7"}; !slices.Equal(from, want) {
			t.Errorf("followed at and from %q, want %q", from, want)
		}
	})
}
