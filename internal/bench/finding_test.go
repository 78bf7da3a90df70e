package bench

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestFindingsAsJSON(t *testing.T) {
	for _, c := range []struct {
		name string
		in   string
		want Finding
		out  string
	}{
		{"typed", `{"kind":"late","text":"5 late","figures":{"late":5}}`, Finding{FoundLate, "5 late", map[string]float64{"late": 5}}, ""},
		{"typed, without figures", `{"kind":"clock set","text":"x"}`, Finding{Kind: FoundClockSet, Text: "x"}, ""},
		{"of a later version", `{"kind":"something new","text":"x"}`, Finding{Kind: "something new", Text: "x"}, ""},
		{"a text", `"something"`, Finding{Text: "something"}, ""},
		{"a text that is known", `"client-bound: 2 of 8"`, Finding{Kind: FoundClientBound, Text: "client-bound: 2 of 8"}, `{"kind":"client-bound","text":"client-bound: 2 of 8"}`},
		{"an object without a kind", `{"text":"interrupted: 2"}`, Finding{Kind: FoundInterrupted, Text: "interrupted: 2"}, `{"kind":"interrupted","text":"interrupted: 2"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got Finding
			if err := json.Unmarshal([]byte(c.in), &got); err != nil || !reflect.DeepEqual(got, c.want) {
				t.Fatalf("%+v, %v, want %+v", got, err, c.want)
			}
			out, err := json.Marshal(got)
			if want := c.out; err != nil || want == "" && string(out) != c.in || want != "" && string(out) != want {
				t.Errorf("%s, %v", out, err)
			}
		})
	}
	for _, wrong := range []string{`5`, `["x"]`, `{"kind":5}`, `{"text":["x"]}`} {
		if err := json.Unmarshal([]byte(wrong), &Finding{}); err == nil {
			t.Errorf("%s is taken for a finding", wrong)
		}
	}
}

// Sentences of results that have no kinds, from files of earlier versions.
func TestKindsOfOldSentences(t *testing.T) {
	for _, c := range []struct {
		name  string
		text  string
		kind  FindingKind
		title string
	}{
		{"client", "the client may be the bottleneck: locbench used 0.62 of 2 CPUs, the contender only 1.19 of its 1.5", FoundClientSuspected, "the client may be the bottleneck"},
		{"opened again", "connections were opened again 31 times; the time for it is part of the latency", FoundReopened, "connections were opened again 31 times; the time for it is part of the latency"},
		{"Little's law", "throughput × mean latency is 3.20, but 2.10 requests were in flight: the client did not see answers when they came", FoundAnswersUnseen, "throughput × mean latency is 3.20, but 2.10 requests were in flight"},
		{"the clock", "10.00 requests were in flight by their times, but only 9.20 by counting them: the clock of this machine is not steady", FoundUnsteadyClock, "10.00 requests were in flight by their times, but only 9.20 by counting them"},
		{"ports", "it began 12s later, when 4,000 local ports were free: this system keeps those of closed connections for a minute", FoundPortsAwaited, "it began 12s later, when 4,000 local ports were free"},
		{"steal", "the hypervisor gave 3.1 % of this machine's CPU time to others", FoundStolen, "the hypervisor gave 3.1 % of this machine's CPU time to others"},
		{"readings", "1 of the readings in between failed", FoundReadingsFailed, "1 of the readings in between failed"},
		{"paused", "paused from outside, 3.02 s after its start", FindingKind(IncidentPaused), "paused from outside"},
		{"a kill", "out of memory: the kernel has killed one of its processes, 2.1 s after its start", FoundOOM, "out of memory"},
		{"the definition", EarlierWarning, FoundEarlier, "measured by the earlier definition of a step"},
		{"similar", "interruptedly: x", FoundOther, "interruptedly"},
		{"its words elsewhere", "a note: client-bound: 2 of 8", FoundOther, "a note"},
		{"nothing", "", FoundOther, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Texts(c.text)[0]; got.Kind != c.kind || got.Title() != c.title {
				t.Errorf("%q, titled %q, want %q, %q", got.Kind, got.Title(), c.kind, c.title)
			}
		})
	}
}

// Each title is found in itself, so that none hides behind another.
func TestTitlesAreTold(t *testing.T) {
	for _, c := range titles {
		t.Run(c.title, func(t *testing.T) {
			text := strings.ReplaceAll(c.title, "…", "12")
			if got := Texts(text)[0]; got.Kind != c.kind || got.Title() != text {
				t.Errorf("%q is %q, titled %q", text, got.Kind, got.Title())
			}
			if c.kind.Title() == "" {
				t.Errorf("%q has no title", c.kind)
			}
		})
	}
}

func TestANoticeKeepsItsFinding(t *testing.T) {
	f := Finding{FoundHung, "it hung", map[string]float64{"grace_ns": 5}}
	var leg LegResult
	for _, n := range []Notice{Warn(f), {Level: "warning", Text: "client-bound: x"}, {Level: "info", Text: "no doubt"}} {
		leg.Apply(leg.Started, n)
	}
	if want := (Findings{f, {Kind: FoundClientBound, Text: "client-bound: x"}}); !reflect.DeepEqual(leg.Warnings, want) {
		t.Errorf("%+v, want %+v", leg.Warnings, want)
	}
	if !leg.Warnings.Has(FoundLate, FoundHung) || leg.Warnings.Has(FoundLate) || leg.Warnings.Join("|") != "it hung|client-bound: x" {
		t.Errorf("%q", leg.Warnings.Join("|"))
	}
}

// Whatever a file holds under "warnings", reading it ends, and what was read is written so that it
// is read as the same.
func FuzzFindings(f *testing.F) {
	for _, seed := range []string{`["client-bound: 2 of 8",{"kind":"late","text":"x","figures":{"late":1e300}}]`, `[null]`, `[{}]`, `["… of … requests that came due were dropped"]`,
		`[{"kind":"client-bound"}]`, `["\ud800 of the readings in between failed"]`, `[{"figures":{"a":0}}]`, `null`, `{}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var first, second Findings
		if json.Unmarshal(data, &first) != nil {
			return
		}
		written, err := json.Marshal(first)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(written, &second); err != nil {
			t.Fatalf("%s: %v", written, err)
		}
		if len(first) != len(second) {
			t.Fatalf("%+v, then %+v", first, second)
		}
		for i, one := range first {
			if two := second[i]; one.Kind != two.Kind || one.Text != two.Text || len(one.Figures) != len(two.Figures) {
				t.Errorf("%+v, then %+v", one, two)
			}
			if title := one.Title(); len(title) > len(one.Text) || utf8.ValidString(one.Text) && !utf8.ValidString(title) {
				t.Errorf("%q of %q", title, one.Text)
			}
		}
	})
}
