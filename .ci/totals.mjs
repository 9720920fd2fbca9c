import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Adds up what Jest wrote into a directory, prints the one line that CI reads, and fails when nothing ran or something failed. */
const [directory] = process.argv.slice(2);
const runs = readdirSync(directory).map((name) => JSON.parse(readFileSync(join(directory, name), 'utf8')));
const sum = (of) => runs.reduce((total, run) => total + of(run), 0);

const passed = sum((run) => run.numPassedTests);
// A file that does not even load has no failed test, and is a failure all the same.
const failed = sum((run) => run.numFailedTests + run.numRuntimeErrorTestSuites);
if (runs.length > 0) console.log(`\ntests: ${passed} passed, ${failed} failed`);
if (failed > 0 || runs.some((run) => run.numPassedTests === 0)) process.exitCode = 1;
