// This file holds the tests of tokens and where they come from.

package transport

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestNewToken(t *testing.T) {
	long := strings.Repeat("x", MaxToken)
	for in, want := range map[string]string{
		"0123456789abcdef":       "0123456789abcdef",
		"0123456789abcdef\n":     "0123456789abcdef",
		"0123456789abcdef\r\n":   "0123456789abcdef",
		"0123456789abcdef\n\n":   "0123456789abcdef\n",
		"\x00\xff0123456789abc ": "\x00\xff0123456789abc ",
		long + "\n":              long,
	} {
		got, err := NewToken([]byte(in))
		if err != nil || *got.secret != want {
			t.Errorf("NewToken(%.40q) = %v, want %.40q", in, err, want)
		}
	}
	for _, in := range []string{"", "\n", "0123456789abcde", "0123456789abcde\n", long + "x"} {
		if _, err := NewToken([]byte(in)); err == nil || !strings.Contains(err.Error(), "urandom") {
			t.Errorf("NewToken of %d bytes: error %v, want one with the remedy", len(in), err)
		}
	}
	if _, err := ReadToken(strings.NewReader(long + "x\r\n")); err == nil {
		t.Error("ReadToken cut a long token")
	}
}

func TestTokenDoesNotPrint(t *testing.T) {
	token := mustToken(t, rightToken)
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "token", token, "options", Options{Token: token})
	for _, text := range []string{fmt.Sprint(token), fmt.Sprintf("%v %+v %#v %s %q", token, token, token, token, token),
		fmt.Sprintf("%+v %#v", Options{Token: token}, Options{Token: token}), log.String()} {
		if strings.Contains(text, "right one") || !strings.Contains(text, "not shown") {
			t.Errorf("%s: it shows the token, or no placeholder", text)
		}
	}
}

func TestTokenFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, c := range []struct {
		path, says string
		unix       bool // only there
	}{
		{write("good", rightToken+"\n", 0o600), "", false},
		{write("readonly", rightToken, 0o400), "", false},
		{write("group", rightToken, 0o640), "chmod 600", true},
		{write("others", rightToken, 0o604), "chmod 600", true},
		{write("writable", rightToken, 0o602), "chmod 600", true},
		{write("short", "secret\n", 0o600), "6 bytes", false},
		{write("empty", "", 0o600), "0 bytes", false},
		{filepath.Join(dir, "missing"), "missing", false},
		{dir, dir, false},
	} {
		if c.unix && runtime.GOOS == "windows" {
			continue
		}
		token, err := ReadTokenFile(c.path)
		switch {
		case c.says == "" && (err != nil || *token.secret != rightToken):
			t.Errorf("%s: %v, %v", c.path, token, err)
		case c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), c.path)):
			t.Errorf("%s: error %v, want one that says %q", c.path, err, c.says)
		}
		if err != nil && strings.Contains(err.Error(), "right one") {
			t.Errorf("%s: the error shows the token: %v", c.path, err)
		}
	}
	other := write("theirs", rightToken, 0o600)
	if err := os.Chown(other, 12345, -1); err != nil {
		t.Log("needs root to give a file away")
	} else if _, err := ReadTokenFile(other); err == nil || !strings.Contains(err.Error(), "12345") {
		t.Errorf("a file of another user: %v", err)
	}
}

func TestTokenFromEnvironment(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(path, []byte(wrongToken), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		text, path string
		want, says string
	}{
		{"", "", "", ""},
		{rightToken, "", rightToken, ""},
		{"", path, wrongToken, ""},
		{rightToken, path, "", "both"},
		{"short", "", "", EnvToken},
		{"", path + "x", "", path + "x"},
	} {
		t.Setenv(EnvToken, c.text)
		t.Setenv(EnvTokenFile, c.path)
		token, err := TokenFromEnvironment()
		got := ""
		if !token.IsZero() {
			got = *token.secret
		}
		if got != c.want || (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q, %q: %q, %v; want %q and an error that says %q", c.text, c.path, got, err, c.want, c.says)
		}
		for _, name := range []string{EnvToken, EnvTokenFile} {
			if text, still := os.LookupEnv(name); still {
				t.Errorf("%s is still set, to %q", name, text)
			}
		}
	}
}
