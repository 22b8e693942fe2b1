//go:build purego || (!amd64 && !arm64)

package goldilocks

// Each wide operation returns how many of the first elements it has handled: none here.

func (k Kernel) addWide(dst, a, b []Element) int                     { return 0 }
func (k Kernel) subWide(dst, a, b []Element) int                     { return 0 }
func (k Kernel) mulWide(dst, a, b []Element) int                     { return 0 }
func (k Kernel) mulAddWide(dst, a, b []Element) int                  { return 0 }
func (k Kernel) xorWide(dst, a, b []Element) int                     { return 0 }
func (k Kernel) andNotWide(dst, a, b []Element) int                  { return 0 }
func (k Kernel) packWide(dst []Element, a [][]Element) int           { return 0 }
func (k Kernel) butterfliesWide(dst, src, w [][]Element) int         { return 0 }
func (k Kernel) addProductsWide(dst, a [][]Element, c []Element) int { return 0 }
func (k Kernel) squareWide(dst, a []Element) int                     { return 0 }
func (k Kernel) negWide(dst, a []Element) int                        { return 0 }
func (k Kernel) mulScalarWide(dst, a []Element, c Element) int       { return 0 }
func (k Kernel) mulAddScalarWide(dst, a []Element, c Element) int    { return 0 }
func (k Kernel) dotWide(a, b []Element) (Element, int)               { return 0, 0 }
