// Package vector clears vector registers of the processor after assembly that does not.
package vector
