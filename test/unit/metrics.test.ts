import { describe, expect, it } from '@jest/globals';
import { type Figure, Metrics } from '../../src/http/metrics.js';

describe('figures of the database', () => {
  it('are in all answers that are asked for while they are counted, which is done once', async () => {
    const metrics = new Metrics();
    const counts: ((figures: Figure[]) => void)[] = [];
    const read = () => new Promise<Figure[]>((resolve) => void counts.push(resolve));
    metrics.figures('depth_of_test', 'A test', ['queue'], read);
    const answers = [metrics.text(), metrics.text()];
    // A turn, after which whoever does not wait has its answer.
    await new Promise((resume) => setTimeout(resume, 50));
    for (const count of counts) count([{ labels: { queue: 'events' }, value: 7 }]);
    for (const text of await Promise.all(answers)) expect(text).toContain('depth_of_test{queue="events"} 7');
    expect(counts).toHaveLength(1);
  });
});
