package contenders

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"locbench/internal/bench"
	"locbench/internal/console"
	"locbench/internal/exit"
)

func noEnv(string) string { return "" }

func TestBuildAllTellsFailuresAtTheEnd(t *testing.T) {
	list := []bench.Service{{Name: "a", Variant: "x"}, {Name: "b"}, {Name: "a", Variant: "y"}, {Name: "c"}}
	var out, talk bytes.Buffer
	var mu sync.Mutex
	busy, most, byName := 0, 0, map[string]int{}
	err := buildAll(t.Context(), console.Env{Stdout: &out, Stderr: &talk, Getenv: noEnv}, list, 2, bench.RuntimeDocker,
		func(_ context.Context, svc bench.Service, tell func(string)) (bench.Artifact, error) {
			mu.Lock()
			busy++
			byName[svc.Name]++
			if byName[svc.Name] > 1 {
				t.Errorf("two variants of %s at the same time", svc.Name)
			}
			most = max(most, busy)
			mu.Unlock()
			tell("compiling\x1b[2J")
			mu.Lock()
			busy--
			byName[svc.Name]--
			mu.Unlock()
			if svc.Name == "b" {
				return bench.Artifact{}, errors.New("build contender b: no such crate")
			}
			return bench.Artifact{Image: "locbench/" + svc.Name, ImageSize: 5 << 20}, nil
		})
	if exit.Code(t.Context(), err) != exit.Contender || !strings.Contains(err.Error(), "no such crate") || !strings.Contains(err.Error(), "1 of 4 could not be built") {
		t.Errorf("error %v", err)
	}
	if most > 2 {
		t.Errorf("%d at the same time", most)
	}
	for _, want := range []string{"a:x: image locbench/a", "a:y: image", "c: image"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("standard output lacks %q:\n%s", want, &out)
		}
	}
	if !strings.Contains(talk.String(), "b: FAILED") || strings.Contains(talk.String(), "\x1b") {
		t.Errorf("standard error:\n%s", &talk)
	}
}

func TestBuildAllStopsInOrder(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("interrupted")
	var mu sync.Mutex
	begun := 0
	err := buildAll(ctx, console.Env{Stdout: io.Discard, Stderr: io.Discard, Getenv: noEnv}, []bench.Service{{Name: "a"}, {Name: "b"}, {Name: "c"}}, 1, bench.RuntimeDocker,
		func(ctx context.Context, _ bench.Service, _ func(string)) (bench.Artifact, error) {
			mu.Lock()
			begun++
			mu.Unlock()
			cancel(why)
			<-ctx.Done()
			return bench.Artifact{}, context.Cause(ctx)
		})
	if !errors.Is(err, why) || begun != 1 {
		t.Errorf("%v after %d builds", err, begun)
	}
}

func TestBuildBoard(t *testing.T) {
	var talk bytes.Buffer
	b := newBuildBoard(console.Env{Stdout: io.Discard, Stderr: &talk, Getenv: noEnv}, []bench.Service{{Name: "a"}, {Name: "b"}, {Name: "c"}}, 2,
		map[string]time.Duration{"a": 40 * time.Second, "b": 20 * time.Second})
	b.live, b.width = true, 30
	b.begin("a")
	began := b.running[0].began
	if left := b.left(began.Add(10 * time.Second)); left != 40*time.Second {
		t.Errorf("left: %v, want (30 s + 20 s + a mean of 30 s) / 2", left)
	}
	if left := b.left(began.Add(time.Hour)); left != 25*time.Second {
		t.Errorf("left when one is late: %v", left)
	}
	b.line("a", strings.Repeat("w\x1b", 100))
	b.draw(began.Add(time.Second))
	b.end("a", "built", "")
	b.close()
	if strings.Contains(strings.NewReplacer("\x1b[K", "", "\x1b[J", "", "\x1b[1A", "", "\x1b[2A", "").Replace(talk.String()), "\x1b") {
		t.Errorf("%q", talk.String())
	}
	for _, line := range strings.Split(talk.String(), "\n") {
		line = line[strings.LastIndex(line, "\r")+1:]
		if text, _, _ := strings.Cut(line, "\x1b"); len([]rune(text)) > 29 {
			t.Errorf("wider than the terminal: %q", text)
		}
	}
}
