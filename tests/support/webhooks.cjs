// standardwebhooks of npm on JSON of stdin, [{secret, body, headers}]: what each verifies, or the error's name.
const { readFileSync } = require("node:fs");
const { Webhook } = require("standardwebhooks");

const found = JSON.parse(readFileSync(0, "utf8")).map(({ secret, body, headers }) => {
  try {
    return { verified: new Webhook(secret).verify(body, headers) };
  } catch (error) {
    return { refused: error.constructor.name };
  }
});
console.log(JSON.stringify(found));
