import { Context } from '../../kernel/context/context.js';
import { principalOf } from './auth.identify.js';

/**
 * The context in which the payments vendor speaks for one of its customers: as the owner of the account that pays, who asked
 * for it. Null where no account is that customer.
 */
export async function customerContext({ app, request }: Context, stripeCustomerId: string): Promise<Context | null> {
  const member = await app.database.prisma.membership.findFirst({
    where: { role: 'owner', account: { stripeCustomerId } },
    include: { account: true },
    orderBy: { createdAt: 'asc' },
  });
  return member && new Context(app, request, principalOf('job', stripeCustomerId, member, { tier: 'admin', scopes: null }));
}
