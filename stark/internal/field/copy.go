package field

import "unsafe"

// Copy copies each src[i] to dst[i]. All vectors must have the same length. Vectors that are far apart in memory take
// less time than with one copy after the other, because those that come later are prefetched.
func Copy[E any](dst, src [][]E) {
	if len(src) == 0 || len(src[0]) == 0 {
		return
	}
	n := len(src[0])
	var e E
	whole := hasCopy && n*int(unsafe.Sizeof(e))%64 == 0
	for i, v := range src {
		if to := dst[i][:n]; !whole {
			copy(to, v)
		} else {
			_ = v[:n] // the kernel does not check lengths
		}
	}
	if whole {
		copyAVX512(unsafe.Pointer(unsafe.SliceData(dst)), unsafe.Pointer(unsafe.SliceData(src)), len(src), n*int(unsafe.Sizeof(e)))
	}
}
