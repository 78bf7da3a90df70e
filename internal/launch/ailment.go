package launch

import "context"

// Ailment says why a running container may not answer, as far as engine and kernel know it; "" for
// nothing that they know of.
func (c *container) Ailment(ctx context.Context) string {
	if c.Exit() != nil {
		return ""
	}
	if text := c.Container.Ailment(ctx); text != "" {
		return text
	}
	if c.info.PID == 0 {
		return "" // not on this machine
	}
	if text := processAilment(c.info.PID); text != "" {
		return text
	}
	return networkAilment(c.info.PID)
}

// Ailment says why a running process may not answer, as far as the kernel knows it.
func (p *process) Ailment(context.Context) string {
	if p.Exit() != nil {
		return ""
	}
	return processAilment(p.info.PID)
}
