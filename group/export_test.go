package group

// Twin is the Go form of the kernel in lanes.
var Twin = twin
