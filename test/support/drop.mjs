import pg from 'pg';

/** Each drop waits for a checkpoint, and those that begin at one time share it. */
const [together, lookMs] = [16, 5000];

let timer;
let dropping = Promise.resolve();

async function namesOf(url, condition, run) {
  const client = new pg.Client(url);
  await client.connect();
  try {
    const text = `select datname as name from pg_database where starts_with(datname, $1) and ${condition}`;
    return (await client.query(text, [`crm_test_${run}_`])).rows.map(({ name }) => name);
  } finally {
    await client.end();
  }
}

async function drop(url, name) {
  const client = new pg.Client(url);
  await client.connect();
  try {
    await client.query(`drop database if exists ${name} with (force)`);
  } finally {
    await client.end();
  }
}

const dropAll = (url, names) => Promise.all(names.map((name) => drop(url, name)));

/** Drops what tests have given back whenever it is enough for a checkpoint: a whole run would fill a small disk. */
export function beginDropping(url, run) {
  const look = async () => {
    const names = await namesOf(url, 'not datallowconn', run);
    if (names.length >= together) await dropAll(url, names.slice(0, together));
  };
  timer = setInterval(() => {
    dropping = dropping.then(look).catch((error) => console.error('Databases of this run could not be dropped', error));
  }, lookMs).unref();
}

/** Drops all databases of this run, and nothing of another run that goes on beside it. */
export async function endDropping(url, run) {
  clearInterval(timer);
  await dropping;
  const names = await namesOf(url, 'true', run);
  while (names.length > 0) await dropAll(url, names.splice(0, together));
}
