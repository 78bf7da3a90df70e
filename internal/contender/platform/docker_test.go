package platform

import (
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

func TestOnThisMachine(t *testing.T) {
	for _, tt := range []struct {
		need bench.NeedInfo
		want bool
	}{
		{bench.NeedInfo{From: bench.NeedEmbedded}, true},
		{bench.NeedInfo{From: bench.NeedContainer}, false}, // next to the contenders
		{bench.NeedInfo{From: bench.NeedNone}, false},
		{bench.NeedInfo{From: bench.NeedExternal, URL: "http://localhost:9200"}, true},
		{bench.NeedInfo{From: bench.NeedExternal, URL: "http://10.0.0.7:9200"}, false},
		{bench.NeedInfo{From: bench.NeedExternal, URL: "http://store.example:9200"}, false},
	} {
		testenv.Equal(t, onThisMachine(tt.need), tt.want, tt.need)
	}
}
