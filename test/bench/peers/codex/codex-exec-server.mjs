// Runs one command in a `codex exec-server` and prints what came back as one line of JSON. The
// server keeps no bound and no file: every byte crosses the connection, base64 in JSON.
//   node codex-exec-server.mjs ws://127.0.0.1:PORT tty|pipe COMMAND
import WebSocket from "ws";

const [url, mode, command] = process.argv.slice(2);
const ws = new WebSocket(url, { perMessageDeflate: false, maxPayload: 2 ** 30 });
const pending = new Map();
let lastId = 0;
let outputBytes = 0;
let wireBytes = 0;
let exitCode;
let closed;
const isClosed = new Promise((resolve) => {
	closed = resolve;
});

function call(method, params) {
	return new Promise((resolve, reject) => {
		const id = ++lastId;
		pending.set(id, { resolve, reject });
		ws.send(JSON.stringify({ id, method, params }));
	});
}

function answer(message) {
	const waiting = pending.get(message.id);
	pending.delete(message.id);
	if (message.error) waiting.reject(new Error(JSON.stringify(message.error)));
	else waiting.resolve(message.result);
}

const notifications = {
	"process/output": (params) => {
		outputBytes += Buffer.byteLength(params.chunk, "base64");
	},
	"process/exited": (params) => {
		exitCode = params.exitCode;
	},
	"process/closed": () => closed(),
};

ws.on("message", (data) => {
	wireBytes += data.length;
	const message = JSON.parse(data);
	if (pending.has(message.id)) answer(message);
	else notifications[message.method]?.(message.params);
});
await new Promise((resolve) => ws.on("open", resolve));
await call("initialize", { clientName: "bench" });
ws.send(JSON.stringify({ method: "initialized", params: {} }));
const started = process.hrtime.bigint();
await call("process/start", {
	processId: "p1",
	argv: ["/bin/bash", "-c", command],
	cwd: "file:///tmp",
	env: { PATH: process.env.PATH },
	tty: mode === "tty",
	pipeStdin: false,
	arg0: null,
});
await isClosed;
const seconds = Number(process.hrtime.bigint() - started) / 1e9;
console.log(JSON.stringify({ seconds, exitCode, outputBytes, wireBytes }));
ws.close();
