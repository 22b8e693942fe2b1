package zkbench

// needs64Bits is an int, which must have 64 bits. With 32 bits, the sizes of circuits, traces and files would overflow,
// and provers and verifiers would be wrong. So the constant below does not compile there. Packages whose sizes can be that
// large import this package.
type needs64Bits int

const _ needs64Bits = 1 << 62
