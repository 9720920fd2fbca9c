import fc from 'fast-check';

/*
 * Properties of the suite are sampled from one seed, so that the same commit gets the same answer every time.
 * PROPERTY_SEED looks elsewhere (`random`, or the seed of a failure); `npm run test:soak` draws a new one by itself.
 */
const { PROPERTY_SEED: wanted = '20261123' } = process.env;
if (wanted !== 'random') fc.configureGlobal({ seed: Number(wanted) });

export default fc;
