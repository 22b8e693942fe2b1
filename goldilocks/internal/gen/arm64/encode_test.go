package arm64

import "testing"

// TestEncoding: the words are those of GNU as 2.40 for the same mnemonics, which have each
// register field not zero and odd somewhere.
func TestEncoding(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		got  instruction
		word uint32
		text string
	}{
		{ddd("add", 1, 18, 31), 0x04ff0241, "add z1.d, z18.d, z31.d"},
		{ddd("sub", 1, 18, 31), 0x04ff0641, "sub z1.d, z18.d, z31.d"},
		{ddd("mul", 1, 18, 31), 0x04ff6241, "mul z1.d, z18.d, z31.d"},
		{ddd("umulh", 1, 18, 31), 0x04ff6e41, "umulh z1.d, z18.d, z31.d"},
		{dss("uaddlb", 3, 17, 30), 0x45de0a23, "uaddlb z3.d, z17.s, z30.s"},
		{dss("uaddlt", 3, 17, 30), 0x45de0e23, "uaddlt z3.d, z17.s, z30.s"},
		{dss("usublb", 3, 17, 30), 0x45de1a23, "usublb z3.d, z17.s, z30.s"},
		{dss("usublt", 3, 17, 30), 0x45de1e23, "usublt z3.d, z17.s, z30.s"},
		{dss("umullb", 3, 17, 30), 0x45de7a23, "umullb z3.d, z17.s, z30.s"},
		{dssWord("umlalt", 3, 17, 15, 0), 0x44ef9623, "umlalt z3.d, z17.s, z15.s[0]"},
		{dssWord("umlalt", 3, 17, 15, 3), 0x44ff9e23, "umlalt z3.d, z17.s, z15.s[3]"},
		{dssWord("umlalb", 3, 17, 15, 1), 0x44ef9a23, "umlalb z3.d, z17.s, z15.s[1]"},
		{dssWord("umullb", 3, 17, 15, 2), 0x44ffd223, "umullb z3.d, z17.s, z15.s[2]"},
		{dssWord("umullt", 3, 17, 15, 1), 0x44efde23, "umullt z3.d, z17.s, z15.s[1]"},
		{dds("usubwt", 3, 17, 30), 0x45de5e23, "usubwt z3.d, z17.d, z30.s"},
		{dds("uaddwt", 3, 17, 30), 0x45de4e23, "uaddwt z3.d, z17.d, z30.s"},
		{merge("add", 29, 7, 2), 0x04c01c5d, "add z29.d, p7/m, z29.d, z2.d"},
		{merge("sub", 29, 7, 2), 0x04c11c5d, "sub z29.d, p7/m, z29.d, z2.d"},
		{merge("umin", 29, 7, 2), 0x04cb1c5d, "umin z29.d, p7/m, z29.d, z2.d"},
		{merge("mul", 29, 7, 2), 0x04d01c5d, "mul z29.d, p7/m, z29.d, z2.d"},
		{merge("umulh", 29, 7, 2), 0x04d31c5d, "umulh z29.d, p7/m, z29.d, z2.d"},
		{mla(29, 7, 2, 21), 0x04d55c5d, "mla z29.d, p7/m, z2.d, z21.d"},
		{shift("lsl", 5, 26, 1), 0x04a19f45, "lsl z5.d, z26.d, #1"},
		{shift("lsl", 5, 26, 32), 0x04e09f45, "lsl z5.d, z26.d, #32"},
		{shift("lsl", 5, 26, 63), 0x04ff9f45, "lsl z5.d, z26.d, #63"},
		{shift("lsr", 5, 26, 1), 0x04ff9745, "lsr z5.d, z26.d, #1"},
		{shift("lsr", 5, 26, 32), 0x04e09745, "lsr z5.d, z26.d, #32"},
		{shift("lsr", 5, 26, 63), 0x04a19745, "lsr z5.d, z26.d, #63"},
		{adr(6, 25, 12, 1), 0x04eca726, "adr z6.d, [z25.d, z12.d, lsl #1]"},
		{adr(6, 25, 12, 2), 0x04ecab26, "adr z6.d, [z25.d, z12.d, lsl #2]"},
		{adr(6, 25, 12, 3), 0x04ecaf26, "adr z6.d, [z25.d, z12.d, lsl #3]"},
		{uxtw(7, 5, 24), 0x04d5b707, "uxtw z7.d, p5/m, z24.d"},
		{movprfx(8, 23), 0x0420bee8, "movprfx z8, z23"},
		{cmphi(9, 6, 22, 13), 0x24cd1ad9, "cmphi p9.d, p6/z, z22.d, z13.d"},
		{dupX(10, 21), 0x05e03aaa, "mov z10.d, x21"},
		{dup0(11), 0x25f8c00b, "mov z11.d, #0"},
		{index(12, 20, 9), 0x04e94e8c, "index z12.d, x20, x9"},
		{ptrue(13), 0x25d8e3ed, "ptrue p13.d"},
		{whilelo(14, 31, 8), 0x25e81fee, "whilelo p14.d, xzr, x8"},
		{whilelo(14, 4, 19), 0x25f31c8e, "whilelo p14.d, x4, x19"},
		{cntd(10), 0x04e0e3ea, "cntd x10"},
		{incd(11), 0x04f0e3eb, "incd x11"},
		{ld1d(15, 3, 18, 7), 0xa5e74e4f, "ld1d {z15.d}, p3/z, [x18, x7, lsl #3]"},
		{st1d(16, 2, 17, 6), 0xe5e64a30, "st1d {z16.d}, p2, [x17, x6, lsl #3]"},
		{ld2d(17, 5, 16, 7), 0xa5a7d611, "ld2d {z17.d, z18.d}, p5/z, [x16, x7, lsl #3]"},
		{ld4d(17, 5, 16, 7), 0xa5e7d611, "ld4d {z17.d-z20.d}, p5/z, [x16, x7, lsl #3]"},
		{st4d(17, 5, 16, 7), 0xe5e77611, "st4d {z17.d-z20.d}, p5, [x16, x7, lsl #3]"},
		{ld1rd(17, 1, 16, 63), 0x85ffe611, "ld1rd {z17.d}, p1/z, [x16, #504]"},
		{ld1rd(17, 1, 16, 0), 0x85c0e611, "ld1rd {z17.d}, p1/z, [x16, #0]"},
		{ld1rqd(18, 1, 17, 1), 0xa5812632, "ld1rqd {z18.d}, p1/z, [x17, #16]"},
		{ld1rqd(18, 1, 17, 7), 0xa5872632, "ld1rqd {z18.d}, p1/z, [x17, #112]"},
		{gather(18, 7, 15, 31), 0xc5bfddf2, "ld1d {z18.d}, p7/z, [z15.d, #248]"},
		{scatter(19, 4, 14, 5), 0xe5c5b1d3, "st1d {z19.d}, p4, [z14.d, #40]"},
	} {
		if c.got.word != c.word || c.got.text != c.text {
			t.Errorf("%08x %s, want %08x %s", c.got.word, c.got.text, c.word, c.text)
		}
	}
}
