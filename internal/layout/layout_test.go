// Package layout holds no code: its test states which package may import which, and why.
package layout

import (
	"encoding/json"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/execagent/execagent"

// rule names the packages of this module that one of them may import.
type rule struct {
	pkg    string
	may    []string
	reason string
}

var rules = []rule{
	{"chord", nil, "the vocabulary is useful without the rest, and knows no terminal"},
	{"limits", nil, "bounding is pure: no I/O, no documents, no wire"},
	{"spill", nil, "a file knows nothing of views"},
	{"transport", nil, "frames are opaque bytes"},
	{"transport/protocol", []string{"limits", "chord"}, "messages speak of limits, and of nothing that moves them"},
	{"execagent/proctree", nil, "processes are found and killed whatever they print"},
	{"execagent", []string{"execagent/proctree", "limits", "spill", "transport", "transport/protocol", "chord"}, "the agent joins the parts and does not know its clients"},
	{"client", []string{"limits", "transport", "transport/protocol", "chord"}, "a harness links the client and not the agent"},
	{"client/embed", []string{"client", "execagent", "transport"}, "the one place where both sides meet"},
	{"client/lane", []string{"limits", "chord"}, "who folds events needs no tool and no connection"},
	{"client/journal", []string{"chord"}, "reading a journal runs chord's operations and nothing else"},
	{"client/sink", []string{"client", "client/lane", "client/journal", "limits", "transport/protocol", "chord"}, "a harness's tools run wherever a client does"},
	{"client/example", []string{"client", "client/embed", "client/journal", "client/lane", "client/sink", "limits"}, "what a harness would do, in one process"},
	{"cmd/execagent", []string{"execagent", "spill", "client", "transport", "internal/status", "internal/version", "internal/hygiene", "internal/profiler"}, "flags, listeners and signals, no logic; client only to ask a running agent, spill only for its bounds"},
	{"cmd/execctl", []string{"client", "client/embed", "limits", "transport", "transport/protocol", "internal/status", "internal/version", "internal/hygiene"}, "what any client could do"},
}

func TestImports(t *testing.T) {
	imports := list(t)
	for _, rule := range rules {
		got, ok := imports[rule.pkg]
		if !ok {
			t.Errorf("%s is gone: take it out of the rules", rule.pkg)
		}
		for _, dep := range got {
			if !slices.Contains(rule.may, dep) {
				t.Errorf("%s imports %s: %s", rule.pkg, dep, rule.reason)
			}
		}
	}
	for pkg := range imports {
		known := slices.ContainsFunc(rules, func(r rule) bool { return r.pkg == pkg })
		if !known && !strings.HasPrefix(pkg, "test") && !strings.HasPrefix(pkg, "internal/") {
			t.Errorf("%s has no rule", pkg)
		}
	}
}

// list returns the imports within the module of each of its packages.
func list(t *testing.T) map[string][]string {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports", "../../...")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v", cmd, err)
	}
	all := make(map[string][]string)
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := d.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		ours := []string{}
		for _, i := range p.Imports {
			if dep, ok := strings.CutPrefix(i, module+"/"); ok {
				ours = append(ours, dep)
			}
		}
		all[strings.TrimPrefix(p.ImportPath, module+"/")] = ours
	}
	return all
}
