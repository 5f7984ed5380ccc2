#!/usr/bin/env bash
# Runs each fuzz target of the module for the given time: test/fuzz.sh 20s
#
# Go before 1.27 now and then fails a target with "context deadline exceeded" as its time is up,
# though no input has failed (golang/go#75804). That alone counts as the end of the time.
set -euo pipefail
cd "$(dirname "$0")/.."
fuzztime=${1:?the time for each target, like 20s}

log=$(mktemp)
trap 'rm -f "$log"' EXIT

# ended_late says whether the log's only failure is that of the clock.
ended_late() {
	! grep -q 'Failing input' "$log" &&
		[ "$(grep -A1 -e '^ *--- FAIL' "$log" | sed -E 's/^--- FAIL: Fuzz[A-Za-z0-9]+ \([0-9.]+s\)$/failed:/')" = $'failed:\n    context deadline exceeded' ]
}

for package in $(go list ./...); do
	for target in $(go test -list '^Fuzz' "$package" | grep '^Fuzz' || true); do
		echo "$package $target"
		go test -run '^$' -fuzz "^$target\$" -fuzztime "$fuzztime" -fuzzminimizetime 1s "$package" 2>&1 | tee "$log" && continue
		ended_late || exit 1
		echo "no input failed: the target's time was up"
	done
done
