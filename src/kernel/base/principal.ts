/** What a member of an account may do, each including those before it. */
export type Role = 'member' | 'admin' | 'owner';
/** What a key may do (contract "Authentication", 3), each including those before it. */
export type Tier = 'read' | 'read-write' | 'admin';

/** What the server knows of the caller's account (workspace) without asking again. */
export interface AccountInfo {
  id: string;
  name: string;
  plan: string;
  billingStatus: string;
  timezone: string;
  defaultCountry: string;
  /** Of amounts that name none, ISO 4217. */
  currency: string;
  /** Of invoices that name none: a decimal fraction, as text. */
  defaultTaxRate: string;
  trialEndsAt: Date | null;
}

/** The kinds of those who change something. */
const actorKinds = ['user', 'api_key', 'form', 'sender', 'workflow', 'automation', 'system'] as const;

/** Who changes something, as the events of the change name them. */
export interface Actor {
  kind: (typeof actorKinds)[number];
  /** The user's, the key's, the form's … */
  id: string | null;
  name: string;
}

/** A run of a workflow or an automation that led to a change. */
export interface Cause {
  kind: 'workflow' | 'automation';
  /** The workflow's or the automation's. */
  id: string;
  runId: string;
  /** Whether the change is what somebody outside reports of what the run did, and not its own doing: a wait of the run ends by that. */
  isReport?: true;
}

/** Who is calling. */
export interface Principal {
  kind: 'session' | 'key' | 'job' | 'account';
  /** The session's, the key's, the job's or the account's id. */
  id: string;
  /** The person; null where nobody is calling: a form, an inbound message and a sequence act for the account. */
  userId: string | null;
  userName: string;
  role: Role;
  tier: Tier;
  /** What a member may do besides the role: `settings:edit`. */
  permissions?: readonly string[];
  /** The domains a key may touch; null means all. */
  scopes: string[] | null;
  /** A session's: its role must have a second factor, and the person has not set one up. */
  owesMfa?: boolean;
  /** A session's: its account is suspended. What is left to the person is to log out, or to go on in another account. */
  isSuspended?: boolean;
  /** A key's requests per minute. */
  rateLimit?: number;
  /** Who it is that changes something, where it is not the person: an API key, a form, a workflow. */
  actor?: Actor;
  account: AccountInfo;
}

/** The wake that says that credentials or rights have changed; its payload is the account's id, or '' where it may be any. */
export const callersWake = 'callers';
