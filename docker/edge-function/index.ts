// A Supabase Edge Function for the runs that lf-sql posts (lenses.fn_set_delivery), verified as Standard Webhooks are:
//   supabase secrets set LF_SQL_WEBHOOK_SECRET=whsec_...
//   supabase functions deploy lf-sql-run --no-verify-jwt

const TOLERANCE = 300; // seconds between the signature and now

const keys = await Promise.all(
  (Deno.env.get("LF_SQL_WEBHOOK_SECRET") ?? "").split(" ").filter(Boolean).map((secret) =>
    crypto.subtle.importKey(
      "raw",
      Uint8Array.from(atob(secret.replace(/^whsec_/, "")), (char) => char.charCodeAt(0)),
      { name: "HMAC", hash: "SHA-256" },
      false,
      ["verify"],
    )
  ),
);

Deno.serve(async (request) => {
  const id = request.headers.get("webhook-id") ?? "";
  const timestamp = request.headers.get("webhook-timestamp") ?? "";
  const body = await request.text();
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${body}`);
  let isSigned = false;
  for (const word of (request.headers.get("webhook-signature") ?? "").split(" ")) {
    if (!/^v1,[A-Za-z0-9+/]{43}=$/.test(word)) continue;
    const signature = Uint8Array.from(atob(word.slice(3)), (char) => char.charCodeAt(0));
    for (const key of keys) {
      isSigned ||= await crypto.subtle.verify("HMAC", key, signature, signed);
    }
  }
  const isFresh = Math.abs(Date.now() / 1000 - Number(timestamp || NaN)) <= TOLERANCE;
  if (!isSigned || !isFresh) return new Response("not signed by lf-sql", { status: 401 });

  const run = JSON.parse(body);
  // An event, such as run.failed or the delivery.test of lf-sql delivery test: any 2xx takes it.
  if (run.type) return new Response(null, { status: 204 });

  // The work. A request may come twice: webhook-id, RUN:ATTEMPT, tells.
  const result = { status: "completed", said: `hello ${run.context_inputs.name ?? "world"}` };

  // 200 with a JSON object completes the run; 429 with Retry-After and 5xx ask for another attempt.
  return Response.json(result, { headers: { "webhook-id": id } });
});
