//go:build linux

// Command bound is a contender for the tests, built to be bound by what BOUND says. The size of its
// memory is MEMORY, in MiB: the limit that it is given.
//
//	heap    holds nearly all of its memory, and with what is left reads a file at random: each request reads pages back from the disk
//	cache   holds little, and reads a file of four times its memory at random
//	client  answers 64 KiB from a file with one call, for less than it costs anybody to read them
package main

import (
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"syscall"
)

func main() {
	if err := run(os.Getenv("BOUND"), os.Getenv("PORT")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(bound, port string) error {
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM)
	go func() {
		<-stop
		os.Exit(0)
	}()
	memory, _ := strconv.Atoi(os.Getenv("MEMORY"))
	switch bound {
	case "client":
		return serveFile(port)
	case "heap":
		return serve(port, &pages{held: memory - 24, file: memory})
	case "cache":
		return serve(port, &pages{held: memory / 16, file: 4 * memory})
	}
	return fmt.Errorf("BOUND %q: nothing to be bound by", bound)
}

func serve(port string, p *pages) error {
	if err := p.fill(); err != nil {
		return err
	}
	return http.ListenAndServe(":"+port, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			p.answer()
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"cityId":1}`))
	}))
}
