import pg from 'pg';

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10, options: '-c TimeZone=UTC -c jit=off' });
let sent = 0;

/** SQL statements sent so far. */
export const statements = () => sent;

/** Runs a statement that is prepared under its name. */
export async function query<Row extends pg.QueryResultRow>(name: string, text: string, values: unknown[]): Promise<Row[]> {
  sent++;
  return (await pool.query<Row>({ name, text, values })).rows;
}

/** Runs prepared statements one after the other in a transaction; the rows of the last. */
export async function inTransaction<Row extends pg.QueryResultRow>(
  statements: { name: string; text: string; values: unknown[] }[],
): Promise<Row[]> {
  sent += statements.length + 2;
  let rows: Row[] = [];
  const client = await pool.connect();
  try {
    await client.query('begin');
    for (const statement of statements) rows = (await client.query<Row>(statement)).rows;
    await client.query('commit');
    client.release();
    return rows;
  } catch (error) {
    client.release(true);
    throw error;
  }
}
