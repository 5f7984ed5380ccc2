//go:build linux

package execagent

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/execagent/execagent/transport/protocol"
	"github.com/google/go-cmp/cmp"
)

func TestEnvironment(t *testing.T) {
	t.Setenv("EXECAGENT_TOKEN", "secret")
	t.Setenv("INHERITED", "yes")
	t.Setenv("PAGER", "less")
	for _, c := range []struct {
		name string
		spec protocol.Spec
		want []string // of the variables below
	}{
		{"plain", protocol.Spec{EnvProfile: protocol.EnvPlain}, []string{"INHERITED=yes", "PAGER=cat"}},
		{"none", protocol.Spec{EnvProfile: protocol.EnvNone}, []string{"INHERITED=yes", "PAGER=less"}},
		{"the spec's own win", protocol.Spec{EnvProfile: protocol.EnvPlain, Env: []string{"PAGER=most", "PAGER=more", "X=a=b"}},
			[]string{"INHERITED=yes", "PAGER=more", "X=a=b"}},
		{"clean", protocol.Spec{CleanEnv: true, EnvProfile: protocol.EnvPlain}, []string{"PAGER=cat"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			env := environment(&c.spec, "/somewhere")
			var got []string
			for _, v := range env {
				if slices.Contains([]string{"INHERITED", "PAGER", "X", "EXECAGENT_TOKEN"}, name(v)) {
					got = append(got, v)
				}
			}
			slices.Sort(got)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if !slices.Contains(env, "PWD=/somewhere") {
				t.Error("PWD is not the working directory")
			}
		})
	}
}

func TestFindShell(t *testing.T) {
	if got, err := findShell("sh"); err != nil || filepath.Base(got) != "sh" {
		t.Errorf("sh: %q, %v", got, err)
	}
	if got, err := findShell(""); err != nil || filepath.Base(got) != "bash" {
		t.Errorf("default: %q, %v, want bash where it exists", got, err)
	}
	if _, err := findShell("/no/such/shell"); err == nil || !strings.Contains(err.Error(), `"/no/such/shell"`) {
		t.Errorf("a missing shell: %v", err)
	}
}

func TestCheckDir(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := checkDir(dir); err != nil || got != dir {
		t.Errorf("checkDir(%q) = %q, %v", dir, got, err)
	}
	for _, bad := range []string{file, filepath.Join(dir, "missing")} {
		if _, err := checkDir(bad); err == nil || !strings.Contains(err.Error(), bad) {
			t.Errorf("checkDir(%q): %v, want an error that names it", bad, err)
		}
	}
}
