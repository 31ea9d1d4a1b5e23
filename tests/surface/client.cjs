// Calls of supabase-js, one a line of JSON on stdin: {url, token, name, args, options, single}; each answer is a line on
// stdout: {status, data, error}.
const readline = require("node:readline");
const { createClient } = require("@supabase/supabase-js");

async function call({ url, token, name, args, options, single }) {
  const headers = token ? { Authorization: `Bearer ${token}` } : {};
  const supabase = createClient(url, "anon-key", {
    auth: { persistSession: false, autoRefreshToken: false },
    realtime: { transport: class {} },
    global: { headers, fetch: (input, init) => fetch(input, withoutAnonKey(init, token)) },
  });
  const query = supabase.rpc(name, args, options);
  const { status, data, error } = await (single ? query.single() : query);
  return { status, data, error };
}

// supabase-js sends its anon key as the bearer where there is no token; the stand-in takes no such key.
function withoutAnonKey(init, token) {
  const headers = new Headers(init.headers);
  if (!token) headers.delete("authorization");
  return { ...init, headers };
}

async function main() {
  for await (const line of readline.createInterface({ input: process.stdin })) {
    console.log(JSON.stringify(await call(JSON.parse(line))));
  }
}

main();
