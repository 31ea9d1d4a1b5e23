// Runs an Edge Function as Deno does, for one request: JSON on stdin, its answer as JSON on stdout.
import { readFileSync } from "node:fs";

const { url, secret, headers, body } = JSON.parse(readFileSync(0, "utf8"));
let handler;
globalThis.Deno = {
  env: { get: (name) => (name === "LF_SQL_WEBHOOK_SECRET" ? secret : undefined) },
  serve: (given) => (handler = given),
};
await import(url);
const answer = await handler(new Request("http://localhost/", { method: "POST", headers, body }));
const content = await answer.text();
console.log(JSON.stringify({ status: answer.status, headers: Object.fromEntries(answer.headers), content }));
