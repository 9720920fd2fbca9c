import type { PrintedData } from '../base/jsonText.js';
import type { Context } from './context.js';

/**
 * Runs a query of declared reads as one statement whose text is the answer; undefined where it must be run field by field:
 * what is neither column nor relation is asked for, an argument is at fault, or a record is not there.
 */
export type Printer = (ctx: Context, variables: Readonly<Record<string, unknown>>) => Promise<PrintedData | undefined>;
