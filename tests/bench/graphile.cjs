// graphile-worker with its local queue and batches, or (`one`) a job at a time; says when its first task ran, until SIGTERM.
const { run } = require("graphile-worker");

let isFirst = true;
const nothing = async () => {
  if (isFirst) console.log(`first ${Date.now()}`);
  isFirst = false;
};
const batches = {
  concurrentJobs: 200,
  maxPoolSize: 10,
  localQueue: { size: 500 },
  completeJobBatchDelay: 0,
  failJobBatchDelay: 0,
};
const how = process.argv[3] === "one" ? { concurrentJobs: 1, maxPoolSize: 2 } : batches;
run({
  preset: { worker: { connectionString: process.argv[2], ...how } },
  taskList: { nothing },
}).then((runner) => runner.promise);
