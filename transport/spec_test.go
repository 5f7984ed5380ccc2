// This file holds the test that SPEC.md and the constants say the same.

package transport

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

func TestSpecStatesTheConstants(t *testing.T) {
	text, err := os.ReadFile("SPEC.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		fmt.Sprintf("| maxHello | %d |", maxHello),
		fmt.Sprintf("| MinToken | %d |", MinToken),
		fmt.Sprintf("| MaxToken | %d |", MaxToken),
		fmt.Sprintf("| MaxWaiting | %d |", MaxWaiting),
		fmt.Sprintf("at most %d are in the handshake", MaxWaiting),
		fmt.Sprintf("has\n%d seconds", defaultHandshakeTimeout/time.Second),
		fmt.Sprintf("pauses of %v s\ndoubling to %d s", firstPause.Seconds(), longestPause/time.Second),
		fmt.Sprintf("label %q", exporterLabel),
		fmt.Sprintf("ALPN `%s`", alpn),
		fmt.Sprintf("`%s`", authToken),
		fmt.Sprintf("| maxRecord | %d |", maxRecord),
		fmt.Sprintf("| MaxFrame | %d |", MaxFrame),
		fmt.Sprintf("| MaxPayload | %d |", MaxPayload),
		fmt.Sprintf("| MaxKind | %d |", MaxKind),
		fmt.Sprintf("| zstdWindow | %d |", zstdWindow),
		fmt.Sprintf("| client magic | `% X` (`\\x89%s\\r\\n`) |", clientMagic, clientMagic[1:6]),
		fmt.Sprintf("| agent magic | `% X` (`\\x89%s\\r\\n`) |", agentMagic, agentMagic[1:6]),
		fmt.Sprintf("**End-of-frames** is `% X`", endOfFrames),
		fmt.Sprintf("| streams not yet accepted, per direction | %d |", acceptBacklog),
		fmt.Sprintf("| receive window of a stream | %d KiB |", streamWindow>>10),
		fmt.Sprintf("| ping after | %d s |", defaultClocks.keepAlive/time.Second),
		fmt.Sprintf("session over | %d s |", defaultClocks.write/time.Second),
		fmt.Sprintf("stream reset | %d s |", defaultClocks.close/time.Second),
		fmt.Sprintf("| at most %d KiB |", maxChunk>>10),
		fmt.Sprintf("payloads of %d bytes and more", minCompress),
		fmt.Sprintf("those of %d to %d bytes", minSimilar, maxSimilar),
		fmt.Sprintf("| historySize | %d |", historySize),
		fmt.Sprintf("the one of ID %d: the last %d bytes", historyID, historySize),
		fmt.Sprintf("# The execagent connection, version %d", MaxVersion),
	} {
		if !strings.Contains(string(text), line) {
			t.Errorf("SPEC.md does not say %q", line)
		}
	}
	for _, code := range []Reason{ReasonVersionTooOld, ReasonVersionTooNew, ReasonMalformed, ReasonAuth, ReasonBusy, ReasonRefused} {
		if !strings.Contains(string(text), fmt.Sprintf("| `%s` |", code)) {
			t.Errorf("SPEC.md does not list the code %q", code)
		}
	}
}
