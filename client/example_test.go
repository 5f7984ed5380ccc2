package client_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/execagent/execagent/client"
	"github.com/execagent/execagent/client/embed"
)

// Run a command and follow its view. With client.Dial instead of embed.Dial the same runs in
// an agent elsewhere.
func Example() {
	dir, err := os.MkdirTemp("", "spill")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	conn, err := embed.Dial(ctx, embed.Options{SpillDir: dir + "/spill"})
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()

	cmd, err := conn.Start(ctx, client.Spec{Command: "seq 1 100000; exit 3"})
	if err != nil {
		log.Fatal(err)
	}
	for _, err := range cmd.Batches() {
		if err != nil {
			log.Fatal(err)
		}
		_ = cmd.View().Text // the latest 50 KB, to be shown
	}
	result, err := cmd.Wait()
	if err != nil {
		log.Fatal(err)
	}
	t := result.Truncation
	fmt.Printf("exit %d, lines %d–%d of %d, %d bytes in the spill\n",
		result.ExitCode, t.FirstLine, t.FirstLine+t.OutputLines-1, t.TotalLines, t.TotalBytes)
	// Output: exit 3, lines 98001–100000 of 100000, 588895 bytes in the spill
}
