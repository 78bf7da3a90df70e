package app

import (
	"slices"

	"locbench/internal/bench"
	"locbench/internal/cpuset"
	"locbench/internal/goruntime"
	"locbench/internal/hiccup"
	"locbench/internal/launch"
)

// apart is the isolation of a run: who gets which CPUs. Its zero value parts nothing.
type apart struct {
	all               []int // that locbench may use; nil where nothing is parted
	contender, client []int
	store             string // of a container
	settings          *goruntime.Settings
	undo              func() error
}

// part plans the isolation of a run beside others on this machine. CPUs that those keep to are left
// to them, where enough others remain. cannot is why nothing can be kept to CPUs of its own.
func part(p bench.Profile, cannot string, others []launch.Neighbour) bench.Isolation {
	return beside(cpuset.Request{
		CPUs: cpuset.Order(cpuset.Allowed(), cpuset.Siblings("")), Limits: p.Limits, Store: p.Store.Chosen(),
		Off: p.Isolation == bench.IsolationOff, Cannot: cannot,
	}, others)
}

func beside(r cpuset.Request, others []launch.Neighbour) bench.Isolation {
	var theirs []int
	anywhere := ""
	for _, o := range others {
		cpus, _ := cpuset.Parse(o.CPUs)
		theirs = append(theirs, cpus...)
		if len(cpus) == 0 {
			anywhere = "; another run may use any CPU"
		}
	}
	i := cpuset.Plan(r)
	if len(theirs) == 0 {
		i.Text += anywhere
		return i
	}
	text := "; another run is on CPUs " + cpuset.List(theirs)
	if i.Separate {
		r.CPUs = slices.DeleteFunc(slices.Clone(r.CPUs), func(cpu int) bool { return slices.Contains(theirs, cpu) })
		if left := cpuset.Plan(r); left.Separate {
			i = left
		} else {
			text += ", and without these too few are left"
		}
	}
	i.Text += text + anywhere
	return i
}

func newApart(i bench.Isolation) apart {
	contender, ok1 := cpuset.Parse(i.Contender)
	client, ok2 := cpuset.Parse(i.Client)
	if !i.Separate || !ok1 || !ok2 || len(contender) == 0 || len(client) == 0 {
		return apart{}
	}
	return apart{all: cpuset.Allowed(), contender: contender, client: client, store: i.Store}
}

// begin keeps this process to its CPUs and sets its Go runtime for driving load, once: after what
// is built and filled, which may use all CPUs, and before the first contender.
func (a *apart) begin() (err error) {
	if a.settings != nil {
		return nil
	}
	if len(a.client) > 0 {
		if a.undo, err = cpuset.Keep(a.client); err != nil {
			return err
		}
	}
	a.settings = goruntime.Start(hiccup.Places())
	return nil
}

// end gives this process its settings and its CPUs back.
func (a *apart) end() error {
	if a.settings == nil {
		return nil
	}
	a.settings.Stop()
	undo := a.undo
	a.settings, a.undo = nil, nil
	if undo == nil {
		return nil
	}
	return undo()
}
