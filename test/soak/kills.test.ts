process.env.KILLS ??= '50';
process.env.KILL_ACKS ??= '10000';
await import('../faults/kills.test.js');
