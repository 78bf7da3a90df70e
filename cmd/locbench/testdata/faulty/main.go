// Command faulty is a contender for the tests. It responds until it misbehaves as FAULT says: after
// AFTER requests, from a request for /misbehave on, or at each request for /later except the first,
// which comes before the load. The last three have one known bottleneck.
//
// With WHEN it misbehaves in one phase instead: start (before it listens), ready (the first request
// for /), setup (a request for /setup), after (the second request for /), teardown (a request for
// /teardown) or stop (at SIGTERM). With DEAF it ignores SIGTERM too.
//
//	none   never misbehaves
//	exit   ends with code 7
//	oom    touches memory until it is killed
//	hang   accepts requests and responds to none
//	touch  responds; touches 32 MiB of memory and gives them back to the kernel; burns a CPU from the
//	       start on
//	spin   responds; burns two CPUs from the start on
//	never  ends before it listens
//	lock   responds to one request at a time, each after 5 ms
//	wait   responds after 10 ms
//	deaf   ignores the request to stop
//	slow   responds after 3 s
//	leak   responds; keeps 2 KiB more with each request
//	full   responds; keeps 2 KiB of each of the last 8000 requests
//	shout  writes escape sequences, wide and combining characters and endless lines to its log
//	heap   holds nearly all of its memory (MEMORY: its limit in MiB), and with what is left reads a file
//	       at random: each request reads pages back from the disk
//	cache  holds little, and reads a file of four times its memory at random
//	client responds with 64 KiB of a file in one call, which costs less than reading them
package main

import (
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

func main() {
	fault, when, port := os.Getenv("FAULT"), os.Getenv("WHEN"), os.Getenv("PORT")
	after, _ := strconv.ParseInt(os.Getenv("AFTER"), 10, 64)
	if fault == "never" {
		fmt.Fprintln(os.Stderr, "cannot read \x1b[31mconfiguration\x1b[0m")
		os.Exit(3)
	}
	if fault == "spin" {
		runtime.GOMAXPROCS(4)
		for range 2 {
			go spin()
		}
	}
	if fault == "touch" {
		go spin()
	}
	if fault == "deaf" || os.Getenv("DEAF") != "" {
		signal.Ignore(syscall.SIGTERM)
	} else {
		stop := make(chan os.Signal, 1)
		signal.Notify(stop, syscall.SIGTERM)
		go func() {
			<-stop
			if when == "stop" {
				misbehave(fault)
			}
			os.Exit(0)
		}()
	}
	if fault == "shout" {
		go shout()
	}
	var err error
	switch memory, _ := strconv.Atoi(os.Getenv("MEMORY")); fault {
	case "client":
		err = serveFile(port)
	case "heap":
		err = held.fill(memory-24, memory)
	case "cache":
		err = held.fill(memory/16, 4*memory)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if when == "start" {
		misbehave(fault)
	}
	var requests, roots, later atomic.Int64
	var begun atomic.Bool // there was a request for /misbehave
	fmt.Println("listening on port", port)
	server := http.Server{Addr: ":" + port, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := requests.Add(1)
		root := int64(0)
		if r.URL.Path == "/" {
			root = roots.Add(1)
		}
		if when == "ready" && root > 0 || when == "after" && root > 1 || when != "" && r.URL.Path == "/"+when {
			misbehave(fault)
		}
		if r.URL.Path == "/misbehave" {
			begun.Store(true)
		}
		if when == "" && n > after && r.URL.Path != "/" || begun.Load() || r.URL.Path == "/later" && later.Add(1) > 1 {
			misbehave(fault)
		}
		fmt.Fprintln(w, "{}")
	})}
	err = server.ListenAndServe()
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

var (
	lock   sync.Mutex
	held   pages
	leaked [][]byte
)

func misbehave(fault string) {
	switch fault {
	case "exit":
		fmt.Fprintln(os.Stderr, "fatal: invariant broken")
		os.Exit(7)
	case "oom":
		// Where it may: the code stays in memory. Else a busy machine fetches it from the disk
		// again and again, for seconds, before it gives up.
		_ = syscall.Mlockall(syscall.MCL_CURRENT)
		var hog [][]byte
		for {
			block := make([]byte, 8<<20)
			for i := range block {
				block[i] = byte(i)
			}
			hog = append(hog, block)
			runtime.KeepAlive(hog)
		}
	case "touch":
		if block, err := anonymous(32 << 20); err == nil {
			_ = syscall.Munmap(block)
		}
	case "heap", "cache":
		held.readBack()
	case "hang":
		select {}
	case "lock":
		lock.Lock()
		time.Sleep(5 * time.Millisecond)
		lock.Unlock()
	case "leak", "full":
		block := make([]byte, 2<<10)
		for i := range block {
			block[i] = 1
		}
		lock.Lock()
		if leaked = append(leaked, block); fault == "full" && len(leaked) > 8000 {
			leaked = leaked[1:]
		}
		lock.Unlock()
	case "slow":
		time.Sleep(3 * time.Second)
	case "wait":
		time.Sleep(10 * time.Millisecond)
	}
}

func spin() {
	for i := 0; ; i++ {
		_ = i
	}
}

// shout writes what must never reach a terminal as it is, four times a second.
func shout() {
	for range time.Tick(250 * time.Millisecond) {
		fmt.Print("\x1b]2;pwned\x07\x1b[2J\x1b[H\x1b[31mred \x9b31m c1 \u202ereversed\r\n")
		fmt.Print("wide 漢字 emoji 👩‍👩‍👧‍👦 combining e\u0301\u0301\u0301 invalid \xff\xfe tab\t.\n")
		fmt.Println(strings.Repeat("endless ", 20_000))
	}
}
