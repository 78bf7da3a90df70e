package container

import "github.com/locbench/locbench/internal/bench"

// Kept returns a service of an image that its preset knows under another name, too. It keeps its
// state: a seeder of its own gives it its data, and contenders cannot change them.
func Kept(name, image, like string, env map[string]string) *Need {
	s := service{Image: image, Like: like, Environment: env, Keep: true}
	s.fill(name, false)
	p, _ := presetOf(s)
	return &Need{name: name, from: bench.NeedContainer, spec: s, preset: p, pace: usual}
}

// Local returns where this machine reaches the service, as HOST:PORT; "" while it does not run.
func (n *Need) Local() string {
	if c := n.current(); c != nil {
		return c.Address()
	}
	return ""
}
