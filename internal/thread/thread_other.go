//go:build !linux

package thread

import "time"

func sharpen() {}

// Prefer does nothing on this system.
func Prefer() bool { return false }

// Watch does nothing on this system.
func Watch() bool { return false }

// Ordinary does nothing on this system.
func Ordinary() {}

// Sleep sleeps.
func Sleep(d time.Duration) { time.Sleep(d) }

// Nap sleeps.
func Nap(d time.Duration) { time.Sleep(d) }
