package container

import "github.com/locbench/locbench/internal/bench"

// Kept returns a service of an image with the preset of another one. It keeps its state: who starts
// it gives it its data, which contenders cannot change.
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
