// Package stat answers five questions about measured figures. Does one program differ
// from another? How precise is the mean of one run? Does the time of an operation depend
// on a secret? Which curve fits figures of many sizes? Where does a series of figures
// have a step?
//
// Comparisons take the process as the unit of replication. The operations of one process
// share its memory layout, its garbage collector and the moment at which it ran, so a
// million operations of two processes are two observations, not a million (Kalibera and
// Jones, "Rigorous Benchmarking in Reasonable Time", ISMM 2013). Figures are compared by
// their logarithms, because disturbances multiply a time. The tests of a comparison use
// ranks, so they assume no distribution.
//
// The package cannot tell why programs differ. If the machine treats two builds
// differently in every process, for example because of the alignment of their code, that
// is a difference too.
package stat
