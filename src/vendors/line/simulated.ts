import type { Clock } from '../../kernel/base/clock.js';
import type { Config } from '../../kernel/base/config.js';
import { HttpLines } from './client.js';
import { LineSimulator } from './simulator.js';

/** Lines over HTTP, of a simulator in this process that begins to listen when it is first needed. */
export class SimulatedLines extends HttpLines {
  constructor(readonly simulator: LineSimulator) {
    super(() => simulator.base());
  }

  override close(): void {
    super.close();
    this.simulator.close();
  }
}

export const simulatedLines = ({ outboxDir }: Config, clock: Clock): SimulatedLines =>
  new SimulatedLines(new LineSimulator(outboxDir, clock));
