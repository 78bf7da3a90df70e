package hdr

import (
	"testing"
	"time"
)

func TestReadGivesTheDistributionBack(t *testing.T) {
	h := New()
	for i := range 10_000 {
		h.Record(time.Duration(100_000 + i*977))
	}
	want := h.Latencies()
	got, err := Read(want.HDR, want.Max)
	if err != nil {
		t.Fatal(err)
	}
	if got.Count != want.Count || got.Max != want.Max || got.P50 != want.P50 || got.P99 != want.P99 || got.HDR != want.HDR {
		t.Errorf("%+v, want %+v", got, want)
	}
	// A maximum that the buckets contradict is not believed.
	if got, err = Read(want.HDR, time.Second); err != nil || got.Max > want.Max+want.Max/500 {
		t.Errorf("maximum %v (%v), want about %v", got.Max, err, want.Max)
	}
	for _, text := range []string{"", "HISTF", "!", want.HDR[:len(want.HDR)/2]} {
		if _, err := Read(text, 0); err == nil {
			t.Errorf("%.20q was read", text)
		}
	}
}
