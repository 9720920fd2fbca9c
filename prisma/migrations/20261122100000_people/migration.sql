-- AlterTable
ALTER TABLE "memberships" ADD COLUMN "invited_email" TEXT;

-- AlterTable
ALTER TABLE "users" ADD COLUMN "email_verified_at" TIMESTAMPTZ(3);

-- Who has been invited is shown as the address alone until they accept: how they are called elsewhere is theirs to tell.
UPDATE memberships m SET invited_email = u.email_lower, name = u.email_lower
  FROM users u WHERE u.id = m.user_id AND m.status = 'invited';
