package report

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// longestName bounds the name of a directory in bytes; file systems take 255.
const longestName = 180

// FileName is text as the name of one file or directory on every operating
// system. What Windows does not take, / and \ among it, becomes _. A name that
// is cut or empty, or that Windows keeps for a device, ends in a digest of the
// text.
func FileName(text string) string {
	name := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == '\ufffd' || strings.ContainsRune(`<>:"/\|?*`, r) {
			return '_'
		}
		return r
	}, text)
	name = strings.TrimRight(name, ". ")
	digest := false
	switch stem, _, _ := strings.Cut(strings.ToLower(name), "."); stem {
	case "", "con", "prn", "aux", "nul",
		"com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8", "com9",
		"lpt1", "lpt2", "lpt3", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9":
		digest = true
	}
	if len(name) > longestName {
		name, digest = strings.ToValidUTF8(name[:longestName], ""), true
	}
	if digest {
		sum := sha256.Sum256([]byte(text))
		name = strings.Trim(name, ".") + "_" + hex.EncodeToString(sum[:4])
	}
	return name
}
