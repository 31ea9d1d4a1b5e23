// graphile-worker with its local queue and batches; says when its first task ran, until SIGTERM.
const { run } = require("graphile-worker");

let isFirst = true;
const nothing = async () => {
  if (isFirst) console.log(`first ${Date.now()}`);
  isFirst = false;
};
run({
  preset: {
    worker: {
      connectionString: process.argv[2],
      concurrentJobs: 200,
      maxPoolSize: 10,
      localQueue: { size: 500 },
      completeJobBatchDelay: 0,
      failJobBatchDelay: 0,
    },
  },
  taskList: { nothing },
}).then((runner) => runner.promise);
