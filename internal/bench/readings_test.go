package bench

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/testenv"
)

// between is a step of 2 s between readings that each change may spoil.
func between(change func(b, a *Usage, needB, needA *NeedUsage)) StepResult {
	read := func(n int64) *Usage {
		cpu, faults, stall := Duration(n)*Duration(time.Second), n*3, time.Duration(n)*500*time.Millisecond
		return &Usage{At: time.Unix(10+n, 0), Source: "cgroup v2", CPU: time.Duration(n) * time.Second,
			Disk: &Disk{"io.stat", 10 * n, 20 * n, n, 3 * n}, Switches: &Switches{Source: "s", Voluntary: 5 * n, Involuntary: n},
			Log: &Log{Bytes: 100 * n, Lines: n, EngineCPU: &cpu}, Network: &Network{"dev", 7 * n, 9 * n},
			Pressure: &Pressure{Source: "cgroup v2", IO: &Stall{Some: Duration(stall)}}, ThreadTime: &ThreadTime{Compiled: Duration(n) * Duration(100*time.Millisecond)},
			Memory: &Memory{Used: n << 20, OOMKills: n, MinorFaults: &faults, MajorFaults: &n, StepPeak: &faults}}
	}
	needs := func(u *Usage) *NeedUsage {
		busy := Duration(300 * time.Millisecond)
		return &NeedUsage{At: u.At, Source: u.Source, CPU: u.CPU, Disk: u.Disk, Network: u.Network, Pressure: u.Pressure, Memory: u.Memory,
			Throttling: &Throttling{Periods: 10 * int64(u.At.Unix()), Throttled: u.At.Unix()}, BusiestThread: &busy}
	}
	b, a := read(1), read(3)
	needB, needA := needs(b), needs(a)
	change(b, a, needB, needA)
	return StepResult{Before: b, After: a, HostBefore: &HostReading{Needs: map[string]*NeedUsage{"db": needB}},
		HostAfter: &HostReading{Needs: map[string]*NeedUsage{"db": needA, "new": {}}}}
}

// What a contender and its need used is the difference of two readings of the same source; where a
// counter fell, or its source changed, nothing is known.
func TestStepResult_Between(t *testing.T) {
	say := func(s StepResult) string {
		of := func(values ...any) string { return fmt.Sprint(values...) }
		disk, log := s.Disk(), Log{}
		text := "disk none"
		if disk != nil {
			text = of("disk ", *disk)
		}
		share, ok := s.DiskWait()
		text += of(", waiting ", share, " ", ok)
		voluntary, involuntary, ok := s.Switches()
		text += of(", switches ", voluntary, " ", involuntary, " ", ok)
		log, ok = s.Log()
		text += of(", log ", log.Bytes, " ", log.Lines, " ", ok, " ", s.LogCPUs())
		received, sent, ok := s.Network()
		text += of(", network ", received, " ", sent, " ", ok)
		minor, major, ok := s.Faults()
		text += of(", faults ", minor, " ", major, " ", ok)
		share, ok = s.Compiling(.5)
		return text + of(", compiling ", share, " ", ok)
	}
	testenv.Equal(t, say(between(func(_, _ *Usage, _, _ *NeedUsage) {})), "disk {io.stat 20 40 2 6}, waiting 0.5 true, switches 10 2 true, "+
		"log 200 2 true 1, network 14 18 true, faults 6 2 true, compiling 0.1 true", "all")
	testenv.Equal(t, say(between(func(b, a *Usage, _, _ *NeedUsage) {
		a.Disk.Source, a.Switches.Source, a.Network.Source, a.Log.Lines, a.Pressure, a.Memory, a.CPU = "docker", "?", "docker stats", 0, nil, nil, b.CPU
	})), "disk none, waiting 0 false, switches 10 2 false, log 200 -1 false 0, network 14 18 false, faults 0 0 false, compiling 0 false", "other sources")
	for name, fell := range map[string]func(d *Disk){"read": func(d *Disk) { d.Read = 0 }, "written": func(d *Disk) { d.Written = 0 },
		"reads": func(d *Disk) { d.Reads = 0 }, "writes": func(d *Disk) { d.Writes = 0 }} {
		s := between(func(_, a *Usage, _, _ *NeedUsage) { fell(a.Disk) })
		testenv.Check(t, s.Disk() == nil, "%s fell: %+v", name, s.Disk())
	}
	s := between(func(_, a *Usage, _, _ *NeedUsage) { a.Pressure.IO.Some = Duration(time.Hour) })
	share, _ := s.DiskWait()
	testenv.Check(t, share == 1, "waited for longer than the step: %v", share)
}

func TestStepResult_Need(t *testing.T) {
	s := between(func(_, _ *Usage, _, _ *NeedUsage) {})
	n := s.Need("db")
	testenv.Check(t, *n.CPU == 2*time.Second && n.Between == 2*time.Second && n.BusyThread == .15 && n.OOMKills == 2 && n.Disk.Writes == 6 &&
		n.Network.Sent == 18 && n.Throttling.Periods == 20 && n.Throttling.Throttled == 2, "%+v", n)
	testenv.Equal(t, fmt.Sprint(s.Needs(), StepResult{}.Needs()), "[db] []", "needs")
	cpus, ok := s.NeedCPUs("db")
	testenv.Check(t, ok && cpus == 1, "%v CPUs, %v", cpus, ok)
	for name, change := range map[string]func(b, a *Usage, needB, needA *NeedUsage){
		"another source": func(_, _ *Usage, _, a *NeedUsage) { a.Source = "docker stats" },
		"its CPU fell":   func(_, _ *Usage, _, a *NeedUsage) { a.CPU = 0 },
		"no time":        func(_, _ *Usage, b, a *NeedUsage) { a.At = b.At },
	} {
		s := between(change)
		_, ok := s.NeedCPUs("db")
		testenv.Check(t, !ok && s.Need("db").CPU == nil && s.Need("db").Between == 0, "%s: %+v", name, s.Need("db"))
	}
	s = between(func(_, _ *Usage, b, a *NeedUsage) { a.Source, b.Source = EmbeddedSource, EmbeddedSource })
	_, ok = s.NeedCPUs("db")
	testenv.Check(t, !ok && s.Need("db").CPU == nil && s.Need("db").Memory != nil, "embedded: %+v", s.Need("db"))
}

// Forms of needs are written unchanged, and read once.
func TestNeedForm(t *testing.T) {
	type kind struct {
		Image string `json:"image,omitempty"`
	}
	f := FormOf(kind{"postgres"})
	text := testenv.Must(json.Marshal(NeedSpec{Name: "db", Of: f}))(t)
	var again NeedSpec
	err := json.Unmarshal(text, &again)
	testenv.Check(t, err == nil, "%v", err)
	read, err := ReadForm[kind](again.Of)
	testenv.Check(t, err == nil && read.Image == "postgres" && again.Of.String() == f.String(), "%+v %v", read, err)
	other, err := ReadForm[map[string]string](again.Of)
	testenv.Check(t, err == nil && other["image"] == "postgres", "as another type: %v %v", other, err)
	_, err = ReadForm[kind](FormFrom([]byte(`{"image": 1}`)))
	testenv.Check(t, err != nil, "a number for an image is read")
	none, err := ReadForm[kind](FormOf(kind{}))
	testenv.Check(t, err == nil && none.Image == "" && FormOf(kind{}).IsZero() && FormFrom(nil).IsZero() && !f.IsZero() && FormOf(kind{}).JSON() == nil,
		"nothing: %+v %v", none, err)
}

func TestNeedNames(t *testing.T) {
	a := NeedAddress{URL: "u", Host: "h", Port: "1", Ports: map[string]string{"http": "2"}, User: "me", Password: "p", Database: "d"}
	at := Template{Needs: map[string]NeedAddress{"db": a}, Other: NeedAddress{Host: "other"}}
	text := ""
	for _, name := range []string{"URL", "Host", "Port", "Ports.http", "User", "Password", "Database", "Ports.x", "host"} {
		value, ok := at.Address("db").Field(name)
		text += fmt.Sprint(value, " ", ok, ", ")
	}
	testenv.Equal(t, text, "u true, h true, 1 true, 2 true, me true, p true, d true,  false,  false, ", "fields")
	testenv.Equal(t, at.Address("cache").Host, "other", "a need that the run does not have")
	testenv.Equal(t, NeedSpec{Name: "db"}.Label()+", "+NeedSpec{Name: "db", Service: "web"}.Label(), "db, db of web", "labels")
	testenv.Equal(t, NeedPart{File: "a/b.sql"}.Name()+", "+NeedPart{Image: "a/b:1", File: "x"}.Name(), "b.sql, a/b:1", "parts")
	web := Selection{Contender: "web"}
	testenv.Check(t, NeedSpec{}.Gets(web) && NeedSpec{For: []Selection{web}}.Gets(web) && !NeedSpec{For: []Selection{{Contender: "x"}}}.Gets(web), "gets")
}

func TestStatuses(t *testing.T) {
	all := Statuses{200: 9, 201: 8, 301: 7, 404: 6, 429: 5, 500: 4, 503: 3, 504: 4}
	testenv.Equal(t, all.Names(), "200, 201, 301, 404, 429, 500, 2 more", "names")
	testenv.Equal(t, Statuses{200: 1449, 429: 5798}.String(), "200: 1,449, 429: 5,798", "text")
	testenv.Equal(t, Statuses{429: 5798, 200: 1449}.Exact(), "200: 1449, 429: 5798", "exact")
	testenv.Equal(t, InWords([]int{200, 404})+", "+InWords(append(All2xx(), 404))+fmt.Sprint(", ", len(All2xx()), " ", All2xx()[99]), "200 or 404, 2xx or 404, 100 299", "words")
	var sum Statuses
	sum.Add(Statuses{200: 2})
	sum.Add(Statuses{200: 3, 404: 1})
	testenv.Check(t, sum.Total() == 6 && sum[200] == 5, "%v", sum)
}

func TestProfile_LimitSets(t *testing.T) {
	a, b := Selection{Contender: "a"}, Selection{Contender: "b"}
	p := Profile{Limits: Limits{CPUs: 1}}
	testenv.Equal(t, fmt.Sprint(len(p.LimitSets()), p.LimitSets()[0].CPUs), "1 1", "without contenders")
	p.Contenders = []Selection{a, b, {Contender: "c"}}
	p.Settings = []Settings{{Selection: b, Limits: Limits{CPUs: .5}, Env: map[string]string{"X": "${TOKEN}${HOME}"}}}
	p.Needs = []NeedSpec{{Of: FormOf(map[string]string{"image": "${TOKEN}:${TAG}"})}}
	testenv.Check(t, len(p.LimitSets()) == 2 && p.LimitSets()[1].CPUs == .5, "%+v", p.LimitSets())
	testenv.Equal(t, fmt.Sprint(p.EnvNames()), "[TOKEN HOME TAG]", "variables")
}

func TestSumRequests(t *testing.T) {
	sum := SumRequests(nil, []RequestLoad{{Name: "a", Outcomes: Outcomes{Succeeded: 1}, Latency: Latencies{Count: 1}}})
	sum = SumRequests(sum, []RequestLoad{{Name: "b", Outcomes: Outcomes{Succeeded: 2}}, {Name: "a", Outcomes: Outcomes{Succeeded: 4}}})
	testenv.Check(t, len(sum) == 2 && sum[0].Succeeded == 5 && sum[0].Latency.Count == 0 && sum[1].Name == "b", "%+v", sum)
}
