//go:build !amd64

package chord

func unescape(dst, raw []byte) (out, in int) { return unescapeWords(dst, raw) }
