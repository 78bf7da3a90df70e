// Command store is the embedded store alone, for the tests that want a store in a container without
// the gigabytes of a real one.
package main

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"locbench/internal/elastic/embedded"
)

func main() {
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM)
	server, err := embedded.New(embedded.Options{})
	if err == nil {
		_, err = server.Listen(":9200")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	<-stop
	_ = server.Close()
}
