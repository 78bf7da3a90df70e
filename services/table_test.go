package services_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"locbench/internal/bench"
	"locbench/internal/contender"
	"locbench/services"
)

//go:generate go test . -run TableOfContenders -update

const (
	tableBegins = "<!-- The table is made by: go generate ./services -->\n"
	tableEnds   = "<!-- The end of the table. -->\n"
)

// TestTableOfContenders compares the table in README.md with the manifests and with what was seen of the contenders.
func TestTableOfContenders(t *testing.T) {
	data, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok1 := strings.Cut(string(data), tableBegins)
	got, after, ok2 := strings.Cut(rest, tableEnds)
	if !ok1 || !ok2 {
		t.Fatalf("README.md lacks the lines %q and %q", tableBegins, tableEnds)
	}
	states, err := contender.ReadStates(services.FS, contender.VerifiedName)
	if err != nil {
		t.Fatal(err)
	}
	want := table(bundled(t), states)
	if got == want {
		return
	}
	if *update {
		if err := os.WriteFile("README.md", []byte(before+tableBegins+want+tableEnds+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("the table in README.md is not what manifests and %s say: go generate ./services\nwant:\n%s", contender.VerifiedName, want)
}

// bundled are the contenders that travel in the binary.
func bundled(t *testing.T) []bench.Service {
	t.Helper()
	sources := []contender.Source{{FS: services.FS, Name: "services"}}
	packed, err := contender.Unpack(services.Modules)
	if err != nil {
		t.Fatal(err)
	}
	if packed != nil {
		sources = append(sources, contender.Source{FS: packed, Name: "services"})
	}
	list, err := contender.Discover(sources...)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func table(list []bench.Service, states contender.States) string {
	var b strings.Builder
	b.WriteString("| contender | language | framework | endpoints | variants | state |\n|---|---|---|---|---|---|\n")
	for _, svc := range list {
		groups := strings.Join(svc.Endpoints, ", ")
		if slices.Equal(svc.Endpoints, contender.Groups()) {
			groups = "all"
		}
		var variants []string
		for _, v := range svc.Variants {
			variants = append(variants, v.Name)
		}
		fmt.Fprintf(&b, "| [%s](%s/README.md) | %s | %s %s | %s | %s | %s |\n", cell(svc.Name), svc.Name, cell(svc.Language), cell(svc.Framework), cell(svc.Version),
			groups, cell(strings.Join(variants, ", ")), cell(stateOf(svc, states)))
	}
	return b.String()
}

// cell is text that cannot end a cell of a table, nor a line.
func cell(text string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "|", `\|`)
}

// stateOf tells the state of each variant, those of one state together, in the order in which they come.
func stateOf(svc bench.Service, states contender.States) string {
	names := []string{""}
	if len(svc.Variants) > 0 {
		names = nil
		for _, v := range svc.Variants {
			names = append(names, v.Name)
		}
	}
	var texts []string
	variants := map[string][]string{}
	for _, name := range names {
		text := "not known"
		if resolved, err := contender.Resolve(svc, name); err == nil {
			text = stateText(resolved, states)
		}
		if variants[text] == nil {
			texts = append(texts, text)
		}
		variants[text] = append(variants[text], name)
	}
	if len(texts) == 1 {
		return texts[0]
	}
	for i, text := range texts {
		texts[i] = strings.Join(variants[text], ", ") + ": " + text
	}
	return strings.Join(texts, "; ")
}

func stateText(svc bench.Service, states contender.States) string {
	v, changed, ok := contender.VerifiedState(svc, states)
	day := v.When.Format(time.DateOnly)
	switch {
	case svc.Unverified != "":
		return "unverified: " + svc.Unverified
	case !ok:
		return "not verified"
	case changed:
		return "changed since " + day
	case v.Failure != "":
		return "failed " + day
	}
	return "verified " + day
}

func TestTable(t *testing.T) {
	svc := bundled(t)[0]
	svc.Name, svc.Framework, svc.Version, svc.Language = "web", "a|b", "1", "X"
	svc.Endpoints, svc.Unverified = []string{"get"}, ""
	no := false
	svc.Variants = []bench.Variant{{Name: "a"}, {Name: "b"}, {Name: "c"}, {Name: "d"}, {Name: "e", Unverified: "no SDK"}}
	for i := range svc.Variants {
		svc.Variants[i].Builtin = &no
	}
	hash, err := contender.SourceHash(svc)
	if err != nil {
		t.Fatal(err)
	}
	day := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	good := contender.Verified{Sources: hash, When: day}
	bad, old := good, good
	bad.Failure, old.Sources = "hung", "before"
	states := contender.States{Contenders: map[string]contender.Verified{"web:a": good, "web:b": good, "web:c": bad, "web:d": old}}
	want := "| [web](web/README.md) | X | a\\|b 1 | get | a, b, c, d, e | a, b: verified 2026-11-21; c: failed 2026-11-21; " +
		"d: changed since 2026-11-21; e: unverified: no SDK |\n"
	if got := table([]bench.Service{svc}, states); !strings.HasSuffix(got, want) {
		t.Errorf("got  %swant %s", got, want)
	}
	svc.Variants, svc.Endpoints = nil, contender.Groups()
	if got := table([]bench.Service{svc}, states); !strings.HasSuffix(got, "| all |  | not verified |\n") {
		t.Errorf("got %s", got)
	}
}
