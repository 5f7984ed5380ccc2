// Runs one command in the published JavaScript harness environment, with a bound of 51200
// bytes and 2000 lines on what is shown and a file of everything, and prints what it cost as one
// line of JSON:  node pi-env.mjs COMMAND
import { NodeExecutionEnv } from "@earendil-works/pi-agent-core/node";

const env = new NodeExecutionEnv({ cwd: process.cwd() });
let updateBytes = 0;
const started = process.hrtime.bigint();
const outcome = await env.exec(
	process.argv[2],
	{
		capture: { limits: { maxBytes: 51200, maxLines: 2000, retain: "tail" }, spill: true },
		onUpdate: (update) => {
			updateBytes += Buffer.byteLength(JSON.stringify(update));
		},
	},
	{ abortSignal: undefined },
);
console.log(
	JSON.stringify({
		ok: outcome.ok,
		error: outcome.ok ? undefined : String(outcome.error),
		seconds: Number(process.hrtime.bigint() - started) / 1e9,
		updateBytes,
		result: outcome.ok ? outcome.value : undefined,
	}),
);
