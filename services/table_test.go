package services_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/contender"
	"github.com/locbench/locbench/internal/testenv"
)

//go:generate go test . -run TableOfContenders|SettingsOfJVMs -update

const (
	tableBegins = "<!-- The table is made by: go generate ./services -->\n"
	tableEnds   = "<!-- The end of the table. -->\n"
	jvmsBegin   = "<!-- The settings of the JVMs are made by: go generate ./services -->\n"
	jvmsEnd     = "<!-- The end of the settings. -->\n"
)

// TestTableOfContenders compares the table in README.md with the manifests.
func TestTableOfContenders(t *testing.T) {
	compareSection(t, tableBegins, tableEnds, table(bundled(t)))
}

// TestSettingsOfJVMs compares the list of settings in README.md with manifests and Dockerfiles.
func TestSettingsOfJVMs(t *testing.T) {
	compareSection(t, jvmsBegin, jvmsEnd, jvms(t, bundled(t)))
}

// compareSection compares what is between two lines of README.md with want, or writes it with
// -update.
func compareSection(t *testing.T, begins, ends, want string) {
	t.Helper()
	data := testenv.Must(os.ReadFile("README.md"))(t)
	before, rest, ok1 := strings.Cut(string(data), begins)
	got, after, ok2 := strings.Cut(rest, ends)
	testenv.Need(t, ok1 && ok2, "README.md lacks the lines %q and %q", begins, ends)
	if got == want {
		return
	}
	if *testenv.Update {
		testenv.OK(t, os.WriteFile("README.md", []byte(before+begins+want+ends+after), 0o644))
		return
	}
	t.Errorf("README.md differs from the manifests and Dockerfiles: go generate ./services\nwant:\n%s", want)
}

const whyHeap = "205 MiB of heap, of which 30 to 70 are in use at 2,048 connections, leave room for the rest of the JVM (130 to 210 MiB); " +
	"allocated at the start, so requests in flight do not fill up the old generation"

// whyJVM has the reasons for all settings of JVMs.
var whyJVM = map[string]string{
	"-XX:MaxRAMPercentage=75":                             "the setting of the published comparisons, there on JDK 11: 384 MiB of heap under 512 MiB",
	"-XX:InitialRAMPercentage=40 -XX:MaxRAMPercentage=40": whyHeap,
	"-XX:InitialRAMPercentage=40 -XX:MaxRAMPercentage=40 -Dreactor.netty.ioSelectCount=1": whyHeap + "; a separate thread accepts: " +
		"the serving loops accept 16 connections at a time, so some of 2,048 were not read within 30 s",
}

// jvms returns the list of the settings of each JVM. The test fails if process and container
// differ.
func jvms(t *testing.T, list []bench.Service) string {
	var b strings.Builder
	b.WriteString("| contender | variants | settings of the JVM | why |\n|---|---|---|---|\n")
	used := map[string]bool{}
	for _, svc := range list {
		var order []string
		variants := map[string][]string{}
		for _, name := range variantNames(svc) {
			resolved := testenv.Must(contender.Resolve(svc, name))(t)
			settings, ok := jvmSettings(t, resolved)
			if !ok {
				continue
			}
			if variants[settings] == nil {
				order = append(order, settings)
			}
			variants[settings] = append(variants[settings], name)
		}
		for _, settings := range order {
			testenv.Check(t, whyJVM[settings] != "", "%s: %q has no reason in whyJVM", svc.Name, settings)
			used[settings] = true
			fmt.Fprintf(&b, "| %s | %s | `%s` | %s |\n", cell(svc.Name), cell(strings.Join(variants[settings], ", ")), settings, whyJVM[settings])
		}
	}
	for settings := range whyJVM {
		testenv.Check(t, used[settings], "no JVM has the settings %q", settings)
	}
	return b.String()
}

var javaEntry = regexp.MustCompile(`(?m)^ENTRYPOINT (\["java", .*\])$`)

// jvmSettings returns the options of a resolved contender's JVM; ok is false if it does not run on
// one.
func jvmSettings(t *testing.T, svc bench.Service) (settings string, ok bool) {
	if svc.Process == nil || svc.Process.Command[0] != "java" {
		return "", false
	}
	text := testenv.Must(fs.ReadFile(svc.Files, svc.Docker.Dockerfile))(t)
	entry := javaEntry.FindSubmatch(text)
	testenv.Need(t, entry != nil, "%s: its Dockerfile has no ENTRYPOINT [\"java\", …]", svc.Name)
	var inside []string
	err := json.Unmarshal(entry[1], &inside)
	testenv.Need(t, err == nil, "%s: ENTRYPOINT: %v", svc.Name, err)
	options := beforeJar(svc.Process.Command)
	testenv.Equal(t, beforeJar(inside), options, svc.Name)
	// The java launcher reads the variable first; later options win.
	return strings.Join(append(strings.Fields(svc.Env["JDK_JAVA_OPTIONS"]), options...), " "), true
}

func beforeJar(argv []string) []string {
	if at := slices.Index(argv, "-jar"); at > 0 {
		return argv[1:at]
	}
	return argv[1:]
}

// bundled returns the contenders in the binary.
func bundled(t *testing.T) []bench.Service {
	t.Helper()
	list := testenv.Must(contender.Discover(contender.Source{FS: unpack(t), Name: "services"}))(t)
	return list
}

func table(list []bench.Service) string {
	var b strings.Builder
	b.WriteString("| contender | language | framework | endpoints | variants |\n|---|---|---|---|---|\n")
	for _, svc := range list {
		groups := strings.Join(svc.Endpoints, ", ")
		if slices.Equal(svc.Endpoints, contender.Groups()) {
			groups = "all"
		}
		var variants []string
		for _, v := range svc.Variants {
			variants = append(variants, unverified(v.Name, v.Unverified))
		}
		fmt.Fprintf(&b, "| %s | %s | %s %s | %s | %s |\n",
			unverified(fmt.Sprintf("[%s](%[1]s/README.md)", cell(svc.Name)), svc.Unverified),
			cell(svc.Language), cell(svc.Framework), cell(svc.Version), groups, cell(strings.Join(variants, ", ")))
	}
	return b.String()
}

// unverified returns a name, marked if there is a reason why it is not verified.
func unverified(name, why string) string {
	if why != "" {
		name += " (unverified)"
	}
	return name
}

// cell returns text in a form that cannot end a table's cell or line.
func cell(text string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "|", `\|`)
}

// variantNames returns the names of the variants, or "" for a contender without variants.
func variantNames(svc bench.Service) (names []string) {
	for _, v := range svc.Variants {
		names = append(names, v.Name)
	}
	if len(names) == 0 {
		names = []string{""}
	}
	return names
}

func TestTable(t *testing.T) {
	svc := bundled(t)[0]
	svc.Name, svc.Framework, svc.Version, svc.Language = "web", "a|b", "1", "X"
	svc.Endpoints, svc.Unverified = []string{"get"}, ""
	svc.Variants = []bench.Variant{{Name: "a"}, {Name: "b", Unverified: "no SDK"}}
	testenv.Equal(t, lastLine(svc), "| [web](web/README.md) | X | a\\|b 1 | get | a, b (unverified) |")
	svc.Variants, svc.Endpoints, svc.Unverified = nil, contender.Groups(), "no SDK"
	testenv.Equal(t, lastLine(svc), "| [web](web/README.md) (unverified) | X | a\\|b 1 | all |  |")
}

// lastLine returns the line of svc in the table.
func lastLine(svc bench.Service) string {
	lines := strings.Split(strings.TrimSpace(table([]bench.Service{svc})), "\n")
	return lines[len(lines)-1]
}
