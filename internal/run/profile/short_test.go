package profile

import (
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/testenv"
)

func TestShortSteps(t *testing.T) {
	got, err := ParseSteps([]string{"1 x2 warm-up for 2s", " 2..8 doubling", "64"}, 5*time.Second)
	testenv.OK(t, err)
	var b strings.Builder
	for _, s := range got {
		b.WriteString(s.Name + " " + s.Duration.String())
		if s.WarmUp {
			b.WriteString(" warm-up")
		}
		b.WriteString("; ")
	}
	if want := "1 connection 2s warm-up; 1 connection 2s warm-up; 2 connections 5s; 4 connections 5s; 8 connections 5s; 64 connections 5s; "; b.String() != want {
		t.Errorf("%s\nwant %s", b.String(), want)
	}
	for items, want := range map[string]string{"many": "many", "8..2 doubling": "rise", "0": "from 1 to", "100001": "65535", "": ""} {
		t.Run(items, func(t *testing.T) {
			if _, err := ParseSteps([]string{items}, time.Second); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "steps:") {
				t.Errorf("%q: %v, want %q", items, err, want)
			}
		})
	}
}
