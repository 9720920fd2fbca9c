process.env.CROWD_LIMIT ??= '500';
await import('../faults/limits.test.js');
