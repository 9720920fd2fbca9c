import { type App, Context } from '../kernel/context/context.js';
import type { Job } from '../kernel/context/jobQueue.js';
import { accountInfo } from '../modules/auth/auth.session.js';

/** The context of a job: the account and the person who caused it, with all rights in that account. */
export async function actingFor(app: App, jobId: string, { accountId, userId }: Omit<Job, 'queue'>): Promise<Context> {
  const member = await app.database.prisma.membership.findUniqueOrThrow({
    where: { key: { accountId, userId } },
    include: { account: true },
  });
  const request = { id: `job-${jobId}`, ip: '127.0.0.1' };
  return new Context(app, request, {
    kind: 'job',
    id: jobId,
    userId,
    userName: member.name,
    role: member.role as 'member' | 'admin' | 'owner',
    tier: 'admin',
    scopes: null,
    account: accountInfo(member.account),
  });
}
