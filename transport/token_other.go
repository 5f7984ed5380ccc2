// This file stands for the look at a file's rights where they are not in its mode.

//go:build !unix

package transport

import "io/fs"

func checkSecret(fs.FileInfo) error { return nil }
