// Package stat answers five questions about measured figures: does one program
// differ from another, how sure is the mean of one run, does a secret show in the
// time that an operation takes, on what curve do figures of many sizes lie, and where
// does a series of figures have a step.
//
// Comparisons take the process as the unit of replication: the operations of one
// process share its memory layout, its collector and its moment, so a million
// operations of two processes are two observations, not a million (Kalibera and
// Jones, "Rigorous Benchmarking in Reasonable Time", ISMM 2013). Figures are
// compared by their logarithms, because what disturbs a time multiplies it; the tests
// of a comparison are on ranks, so no distribution is assumed. What the package does
// not promise: a difference that the machine makes between two builds in every
// process alike (alignment of the code, for example) is a difference here too.
package stat
