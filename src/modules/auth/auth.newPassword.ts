import { check, invalidField } from '../../kernel/base/errors.js';
import type { Context } from '../../kernel/context/context.js';
import { commonPasswords } from './auth.commonPasswords.js';
import { hashPassword } from './auth.secrets.js';

/**
 * The hash of a password that somebody chooses. The contract asks for eight characters and no more; PASSWORD_DENYLIST=1 also
 * refuses the most common ones, whatever their case: 400 naming the field.
 */
export async function hashChosen(ctx: Context, password: string, field = 'password'): Promise<string> {
  const isCommon = ctx.app.config.passwordDenylist && commonPasswords.has(password.normalize('NFKC').trim().toLowerCase());
  check(!isCommon, () => invalidField(field, 'not_allowed', 'is one of the most common passwords; choose another one'));
  return hashPassword(password);
}
