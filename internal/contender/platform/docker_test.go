package platform

import (
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

func TestOnThisMachine(t *testing.T) {
	for _, tt := range []struct {
		store bench.StoreSpec
		want  bool
	}{
		{bench.StoreSpec{Kind: bench.StoreEmbedded}, true},
		{bench.StoreSpec{Kind: bench.StoreContainer}, false}, // next to the contenders
		{bench.StoreSpec{Kind: bench.StoreAuto}, true},
		{bench.StoreSpec{Kind: bench.StoreNone}, false},
		{bench.StoreSpec{Kind: bench.StoreAuto, URL: "http://[::1]:9200"}, true},
		{bench.StoreSpec{Kind: bench.StoreExternal, URL: "http://localhost:9200"}, true},
		{bench.StoreSpec{Kind: bench.StoreExternal, URL: "http://10.0.0.7:9200"}, false},
		{bench.StoreSpec{Kind: bench.StoreExternal, URL: "http://store.example:9200"}, false},
	} {
		testenv.Equal(t, onThisMachine(tt.store), tt.want, tt.store)
	}
}
