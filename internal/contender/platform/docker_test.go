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
		{bench.NeedInfo{Kind: bench.StoreEmbedded}, true},
		{bench.NeedInfo{Kind: bench.StoreContainer}, false}, // next to the contenders
		{bench.NeedInfo{Kind: bench.StoreNone}, false},
		{bench.NeedInfo{Kind: bench.StoreExternal, URL: "http://localhost:9200"}, true},
		{bench.NeedInfo{Kind: bench.StoreExternal, URL: "http://10.0.0.7:9200"}, false},
		{bench.NeedInfo{Kind: bench.StoreExternal, URL: "http://store.example:9200"}, false},
	} {
		testenv.Equal(t, onThisMachine(tt.need), tt.want, tt.need)
	}
}
