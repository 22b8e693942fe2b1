// Package seal lets packages below group, and no others, implement the interfaces of package group.
package seal

// Interface is embedded in sealed interfaces. Sealed implements it.
type Interface interface{ sealed() }

// Sealed is embedded in the implementations of sealed interfaces.
type Sealed struct{}

func (Sealed) sealed() {}
