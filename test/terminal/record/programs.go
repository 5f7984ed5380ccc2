//go:build linux

package main

// program is one recording.
type program struct {
	name    string
	needs   []string // programs that must be there
	prepare string   // run before, not recorded
	script  string
	keys    []string // pressed one after the other, each when the program is silent
}

var programs = []program{
	{
		name:    "apt-get",
		needs:   []string{"apt-get"},
		prepare: "apt-get install -y -d --reinstall whiptail",
		script:  "apt-get install -y --reinstall -o Dpkg::Progress-Fancy=1 -o Dir::Ignore-Files-Silently::=disabled whiptail",
	},
	{
		name:    "npm",
		needs:   []string{"npm"},
		prepare: `for p in one two three; do mkdir $p; echo "{\"name\":\"$p\",\"version\":\"1.0.0\"}" > $p/package.json; done; mkdir app; echo '{"name":"app","scripts":{"postinstall":"sleep 1"}}' > app/package.json`,
		script:  "cd app; export npm_config_update_notifier=false; npm install --no-audit --no-fund --offline ../one ../two ../three",
	},
	{
		name:    "cargo",
		needs:   []string{"cargo", "cc"},
		prepare: `mkdir -p src && printf '[package]\nname = "hello"\nversion = "0.1.0"\nedition = "2021"\n' > Cargo.toml && echo 'fn main() { let x = 1; println!("hello"); }' > src/main.rs && echo 'fn main() { std::thread::sleep(std::time::Duration::from_secs(2)); }' > build.rs`,
		script:  `export RUSTUP_HOME=${RUSTUP_HOME:-$OLD/.rustup}; cargo build --offline; touch build.rs; cargo build --offline`,
	},
	{
		name:    "go-build",
		needs:   []string{"go"},
		prepare: `printf 'module hello\ngo 1.22\n' > go.mod; printf 'package main\nfunc main() { println(x) }\n' > main.go`,
		script:  "GOFLAGS=-mod=mod go build -x 2>/dev/null; GOFLAGS=-mod=mod go build ; GOFLAGS=-mod=mod go vet",
	},
	{
		name:    "git-clone",
		needs:   []string{"git"},
		prepare: `git init -q from; cd from; for i in $(seq 1 400); do head -c 20000 /dev/urandom > f$i; done; git add .; git -c user.name=a -c user.email=a@b commit -qm all`,
		script:  "git clone file://$PWD/from to",
	},
	{
		name:    "curl",
		needs:   []string{"curl", "python3"},
		prepare: "head -c 3000000 /dev/zero > file",
		script:  "python3 -m http.server --bind 127.0.0.1 18473 >/dev/null 2>&1 & sleep 1; curl --limit-rate 1M -o got http://127.0.0.1:18473/file; curl --limit-rate 1M -# -o got http://127.0.0.1:18473/file; kill %1",
	},
	{
		name:    "pytest",
		needs:   []string{"pytest"},
		prepare: `printf 'import time, pytest\n\n@pytest.mark.parametrize("n", range(30))\ndef test_many(n):\n    time.sleep(0.01)\n    assert n != 17, "not that one"\n\ndef test_skipped():\n    pytest.skip("later")\n' > test_some.py`,
		script:  "pytest --color=yes -q -p no:cacheprovider; pytest --color=yes -v -p no:cacheprovider -k skipped",
	},
	{
		name:    "jest",
		needs:   []string{"jest"},
		prepare: `echo '{"name":"x"}' > package.json; for t in one two three; do printf 'test("%s adds", async () => { await new Promise(r => setTimeout(r, 400)); expect(1 + 1).toBe(2) })\n' $t > $t.test.js; done; printf 'test("fails", () => { expect("a").toBe("b") })\n' > four.test.js`,
		script:  "jest --colors --rootDir . ",
	},
	{
		name:    "vim",
		needs:   []string{"vim"},
		prepare: "seq 1 100 > file",
		script:  "echo before; vim -u NONE file; echo after",
		keys:    []string{"G", "Onew line\x1b", ":s/new/old/\r", ":wq\r"},
	},
	{
		name:    "less",
		needs:   []string{"less"},
		prepare: "seq 1 100 > file",
		script:  "echo before; less file; less -X -E file; echo after",
		keys:    []string{" ", "/77\r", "q", " ", " ", " ", " ", " "},
	},
	{
		name:   "top-b",
		needs:  []string{"top"},
		script: "sleep 30 & sleep 30 & COLUMNS=80 top -b -n 2 -d 0.5 -p $! -p $$; kill %1 %2",
	},
	{
		name:   "htop",
		needs:  []string{"htop"},
		script: "echo before; sleep 30 & htop -p $!; kill %1; echo after",
		keys:   []string{"j", "q"},
	},
	{
		name:   "dialog",
		needs:  []string{"dialog"},
		script: "dialog --menu 'Choose one' 12 40 4 1 first 2 second 3 third 2>choice; cat choice; echo; echo after",
		keys:   []string{"\x1b[B", "\r"},
	},
	{
		name:   "dialog-linux",
		needs:  []string{"dialog"},
		script: "TERM=linux dialog --keep-tite --menu 'Choose one' 12 40 4 1 first 2 second 3 third 2>choice; cat choice; echo; echo after",
		keys:   []string{"\x1b[B", "\r"},
	},
	{
		name:   "whiptail",
		needs:  []string{"whiptail"},
		script: "{ for i in 10 50 100; do echo $i; sleep 0.2; done; } | whiptail --gauge working 8 50 0; echo after",
	},
	{
		name:   "spinner",
		script: `for i in 1 2 3 4 5 6 7 8; do for c in '|' / - '\'; do printf '\b%s' "$c"; sleep 0.02; done; done; printf '\bdone\n'`,
	},
	{
		name:   "tput-menu",
		needs:  []string{"tput"},
		script: menu,
	},
	{name: "docker-pull", script: pull},
	{name: "pip-bar", script: bar},
}

// menu draws a menu and moves its mark down, as shell scripts do.
const menu = `
items=(apples pears plums)
draw() { for i in "${!items[@]}"; do tput el; if [ $i = $1 ]; then tput rev; fi; echo " ${items[$i]} "; tput sgr0; done; }
echo 'Pick a fruit:'
tput civis; draw 0
for n in 1 2; do sleep 0.1; tput cuu 3; draw $n; done
tput cnorm; echo "picked ${items[2]}"
tput sc; tput cup 0 0; printf 'at the top'; tput rc; echo end
`

// pull is made of the sequences that docker pull prints on a terminal: a line for each layer, each
// redrawn by going up to it, erasing it and coming down again.
const pull = `
up() { printf '\033[%dA\033[2K\r%s\r\033[%dB' $1 "$2" $1; }
echo 'latest: Pulling from library/thing'
for l in 4abcf2066143 d1f7e8b3a2c1 9c27e219663c; do printf '%s: Pulling fs layer\n' $l; done
for p in 10 55 100; do
	up 3 "4abcf2066143: Downloading [$(printf '%*s' $((p/4)) '' | tr ' ' '=')>]  $p kB/100 kB"
	up 2 "d1f7e8b3a2c1: Downloading [$(printf '%*s' $((p/5)) '' | tr ' ' '=')>]  $p kB/120 kB"
	up 1 '9c27e219663c: Waiting'
	sleep 0.05
done
up 3 '4abcf2066143: Pull complete'
up 1 '9c27e219663c: Pull complete'
up 2 'd1f7e8b3a2c1: Pull complete'
echo 'Digest: sha256:1d6ad2f8b2cc'
echo 'Status: Downloaded newer image for thing:latest'
`

// bar is made of the sequences of a pip download: a bar of box drawing characters, coloured, the
// cursor hidden meanwhile.
const bar = `
echo 'Collecting thing'
echo '  Downloading thing-1.0-py3-none-any.whl (1.2 MB)'
printf '\033[?25l'
for i in $(seq 0 4 40); do
	done=$(printf '%*s' $i '' | sed 's/ /━/g'); todo=$(printf '%*s' $((40-i)) '' | sed 's/ /━/g')
	printf '\r\033[2K     \033[38;5;70m%s\033[0m\033[38;5;237m%s\033[0m \033[32m%d.%d/1.2 MB\033[0m \033[31m8.1 MB/s\033[0m' "$done" "$todo" $((i*3/100)) $((i*30/100%10))
	sleep 0.02
done
printf '\033[?25h\n'
echo 'Successfully downloaded thing'
`
