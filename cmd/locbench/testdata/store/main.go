// Command store is the embedded store alone, for tests that need a store in a container without the
// gigabytes of a real one. It holds the data set of the tests' profiles, as if it had been seeded.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/locbench/locbench/internal/store/dataset"
	"github.com/locbench/locbench/internal/store/embedded"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	data, err := dataset.Generated(200, 12, 1)
	if err != nil {
		return err
	}
	store := embedded.New(embedded.Options{})
	defer store.Close()
	if err := store.Fill(ctx, data, nil); err != nil {
		return err
	}
	server := &http.Server{Addr: ":9200", Handler: seeded(store, data)}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	if err := server.ListenAndServe(); ctx.Err() == nil {
		return err
	}
	return nil
}

type table = map[string]any

// seeded is healthy, and responds to the requests of a seeding, which finds the data unchanged and makes the store
// read-only; the store handles the rest.
func seeded(store http.Handler, data dataset.Set) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		response := table{}
		index, call, _ := strings.Cut(strings.Trim(r.URL.Path, "/"), "/")
		switch {
		case index == "_alias":
			for _, i := range data.Indices() {
				response[i.Name+"_v1"] = table{"aliases": table{i.Name: table{}}}
			}
		case call == "_mapping":
			mark := table{"alias": strings.TrimSuffix(index, "_v1"), "hash": data.Info().Hash}
			response[index] = table{"mappings": table{"_meta": table{"locbench": mark}}}
		case call == "_count":
			for _, i := range data.Indices() {
				if i.Name == strings.TrimSuffix(index, "_v1") {
					response["count"] = i.Count
				}
			}
		case index == "_cluster" && (r.Method == http.MethodPut || call == "health"):
		default:
			store.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(response)
	})
}
