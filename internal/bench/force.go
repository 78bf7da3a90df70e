package bench

import "context"

type forceKey struct{}

// WithForce returns ctx with force, which is closed when whoever waits for the end has asked for it
// again: what is being stopped then may take no more time. A context made from it that outlives its
// end, as context.WithoutCancel makes one, keeps force.
func WithForce(ctx context.Context, force <-chan struct{}) context.Context {
	return context.WithValue(ctx, forceKey{}, force)
}

// Forced is closed when what is being stopped may take no more time; nil, which never is, without
// WithForce.
func Forced(ctx context.Context) <-chan struct{} {
	force, _ := ctx.Value(forceKey{}).(<-chan struct{})
	return force
}
