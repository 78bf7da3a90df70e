// Package services embeds the folders of the bundled contenders, so the binary can build and start
// them without other files. Package contender reads the manifests.
package services

import _ "embed"

//go:generate go test . -run ContendersArePacked -update

// Packed has the folders of the contenders, for contender.Unpack: go:embed leaves out folders with a
// go.mod, and does not compress. go generate makes it from the folders; a test compares.
//
//go:embed contenders.txtar.gz
var Packed []byte
