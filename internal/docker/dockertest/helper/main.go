//go:build unix && acceptance

// Command helper misbehaves on request: it is the contender of the tests that need a real process
// or container.
//
// It executes its arguments one after the other: print TEXT, noise (hostile log lines), flood N (N
// lines), env (its environment), spin N (N busy threads, in the background), hog N (touches N MiB
// of memory), child (starts itself as a sleeping child in its own session), exit CODE, deaf
// (ignores SIGTERM), serve PORT (responds to every request with 404 until SIGTERM, then exits with
// 0), obey PORT (does what requests say: see obey_linux.go), get URL (prints the status), put FILE
// TEXT, fill FILE N (N MiB), own PATH UID MODE, link OLD NEW, remove PATH, show DIR (its files),
// sleep (until killed).
package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

func main() {
	args := os.Args[1:]
	next := func() string {
		if len(args) == 0 {
			return ""
		}
		a := args[0]
		args = args[1:]
		return a
	}
	number := func() int {
		n, _ := strconv.Atoi(next())
		return n
	}
	for len(args) > 0 {
		switch what := next(); what {
		case "print":
			fmt.Println(next())
		case "noise":
			fmt.Println("before")
			fmt.Println(strings.Repeat("x", 1<<20))
			os.Stdout.WriteString("\xff\xfe\x1b[31mred\x00\n")
			fmt.Fprintln(os.Stderr, "to stderr")
			fmt.Print("no end of line")
		case "flood":
			for i := range number() {
				fmt.Println("line", i)
			}
		case "env":
			for _, e := range os.Environ() {
				fmt.Println(e)
			}
		case "spin":
			for range number() {
				go func() {
					for n := uint64(0); ; n++ {
						spun.Store(n)
					}
				}()
			}
		case "hog":
			var kept [][]byte
			for range number() {
				b := make([]byte, 1<<20)
				for i := 0; i < len(b); i += 4096 {
					b[i] = 1
				}
				kept = append(kept, b)
			}
			fmt.Println("touched", len(kept), "MiB")
			defer fmt.Fprint(os.Stderr, len(kept))
		case "child":
			cmd := exec.Command(os.Args[0], "deaf", "sleep")
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
			if err := cmd.Start(); err != nil {
				fmt.Println("child:", err)
				os.Exit(1)
			}
			fmt.Println("child", cmd.Process.Pid)
		case "exit":
			os.Exit(number())
		case "deaf":
			signal.Ignore(syscall.SIGTERM)
		case "serve":
			serve(next())
		case "obey":
			obey(next())
		case "get":
			get(next())
		case "put":
			file := next()
			must(os.MkdirAll(filepath.Dir(file), 0o755))
			must(os.WriteFile(file, []byte(next()), 0o644))
		case "fill":
			fill(next(), number())
		case "own":
			path, uid := next(), number()
			mode, err := strconv.ParseUint(next(), 8, 32)
			must(err)
			must(os.Lchown(path, uid, uid+1))
			must(syscall.Chmod(path, uint32(mode)))
		case "link":
			must(os.Symlink(next(), next()))
		case "remove":
			must(os.Remove(next()))
		case "show":
			show(next())
		case "sleep":
			time.Sleep(time.Hour)
		default:
			fmt.Fprintln(os.Stderr, "unknown:", what)
			os.Exit(2)
		}
	}
}

var spun atomic.Uint64 // keeps the compiler from dropping the loops

func get(url string) {
	client := http.Client{Timeout: 10 * time.Second}
	resp, err := client.Get(url)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	resp.Body.Close()
	fmt.Println("status", resp.StatusCode)
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// fill writes a file that does not compress.
func fill(name string, mebibytes int) {
	f, err := os.Create(name)
	must(err)
	random := rand.NewChaCha8([32]byte{})
	_, err = io.CopyN(f, random, int64(mebibytes)<<20)
	must(err)
	must(f.Close())
}

// show prints the owners, modes and sizes of files, the targets of links, and short contents.
func show(dir string) {
	must(filepath.Walk(dir, func(path string, f os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		owner := f.Sys().(*syscall.Stat_t)
		text, _ := os.Readlink(path)
		if f.Mode().IsRegular() && f.Size() < 100 {
			data, err := os.ReadFile(path)
			must(err)
			text = string(data)
		}
		fmt.Println(f.Mode(), owner.Uid, owner.Gid, path, text)
		return nil
	}))
}

func serve(port string) {
	deaf := signal.Ignored(syscall.SIGTERM)
	ctx, stop := context.Background(), func() {}
	if !deaf { // before the line "listening", after which the signal may come
		ctx, stop = signal.NotifyContext(ctx, syscall.SIGTERM)
	}
	defer stop()
	l, err := net.Listen("tcp", ":"+port)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("listening on", port)
	server := http.Server{Handler: http.NotFoundHandler()}
	go server.Serve(l)
	if deaf {
		time.Sleep(time.Hour)
	}
	<-ctx.Done()
	fmt.Println("stopping")
	server.Shutdown(context.Background())
	os.Exit(0)
}
