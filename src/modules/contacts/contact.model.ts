import { ArgsType, Field, Int, ObjectType } from 'type-graphql';
import { eventsOf, everyChange } from '../../kernel/events/recordEvents.js';
import { ConnectionOf, ListArgsOf } from '../../kernel/model/connection.js';
import {
  Count,
  Edit,
  Email,
  Entity,
  Flag,
  Id,
  Input,
  JsonObject,
  Moment,
  Nested,
  OneOf,
  oneOf,
  Phone,
  Ref,
  Refs,
  SomeOf,
  Stamp,
  Text,
  Texts,
} from '../../kernel/model/fields.js';
import { New } from '../../kernel/model/newRecord.js';

/** The most tags of one contact: they are read with it. */
export const mostTags = 100;

/** Where a contact came from, as the tracking pixel or the form told. */
@ObjectType({ description: 'Where a contact came from' })
export class Attribution {
  @Text(500, 'Campaign source') utm_source: string | null;
  @Text(500, 'Campaign medium') utm_medium: string | null;
  @Text(500, 'Campaign name') utm_campaign: string | null;
  @Text(500, 'Campaign content') utm_content: string | null;
  @Text(500, 'Campaign term') utm_term: string | null;
  @Text(2000, 'Referring page') referrer: string | null;
  @Text(2000, 'Landing page') landingUrl: string | null;
  @Text(500, 'Title of the landing page') pageTitle: string | null;
  @JsonObject(8, 'Click ids by network') clickIds: object | null;
}

@Input('Where a contact came from: absent keeps, null clears')
export class AttributionInput extends Edit(Attribution) {}

/** Contract "Contact": one line a field. */
@ObjectType()
export class ContactFields {
  @Text(100, 'Given name') firstName: string | null;
  @Text(100, 'Family name') lastName: string | null;
  @Email('E-mail address, kept as sent') email: string | null;
  @Phone('Phone number, E.164') phone: string | null;
  @Text(200, 'Company, as text') company: string | null;
  @Ref('The company record; independent of the text') companyId: string | null;
  @Text(150, 'Job title') jobTitle: string | null;
  @Text(100, 'Lead source') source: string | null;
  @Text(200, 'Street') addressLine1: string | null;
  @Text(200, 'Second address line') addressLine2: string | null;
  @Text(100, 'City') city: string | null;
  @Text(100, 'State or region') state: string | null;
  @Text(20, 'Postal code') zip: string | null;
  @Text(2, 'Country, ISO 3166 alpha-2') country: string | null;
  @Text(64, 'Time zone') timezone: string | null;
  @Text(200, 'Status in an older system') legacyStatus: string | null;
  @Text(40, 'Status; lead by default', { optional: true }) masterStatus: string;
  @Flag('Whether another system is the source of truth') externalBackend: boolean | null;
  @Text(16, 'Language') language: string | null;
  @Flag('Whether the contact must not be contacted; false by default') doNotContact: boolean | null;
  @Text(500, 'Why the contact must not be contacted') doNotContactReason: string | null;
  @Flag('Whether the contact has opted out of text messages; false by default', { optional: true }) optedOutSms: boolean;
  @Flag('Whether the contact has opted out of e-mail; false by default', { optional: true }) optedOutEmail: boolean;
  @Ref('The user who looks after the contact') assignedTo: string | null;
  @JsonObject(64, 'Values of custom fields by key', { optional: true }) customFields: object;
  @Nested(
    () => Attribution,
    () => AttributionInput,
    'Where the contact came from',
  )
  attribution: Attribution | null;
}

@Entity('A person the workspace deals with', { scope: 'contacts' })
export class Contact extends ContactFields {
  @Id() id: string;
  @Count('Lead score, 0 to 100', { required: true }) leadScore: number;
  @Stamp('When anything last happened with the contact', {}) lastActivityAt: Date | null;
  @Stamp('When the contact was last written to or called', {}) lastContactedAt: Date | null;
  @Stamp('When the contact was made') createdAt: Date;
  @Stamp('When the contact was last changed') updatedAt: Date;
}

@Input('A new contact; at least one of firstName, lastName, email, phone')
export class CreateContactInput extends New(ContactFields) {
  @Texts(mostTags, 100, 'Tag names, found or made; they replace the tags of the contact') tags?: string[] | null;
}

@Input('Two contacts to make one')
export class MergeContactsInput {
  @Ref('The contact that is kept', { required: true }) primaryId: string;
  @Ref('The contact that is merged in, then deleted', { required: true }) secondaryId: string;
}

@Entity('What an upsert did')
export class UpsertResult {
  @Nested(
    () => Contact,
    () => Contact,
    'The contact, made or updated',
    { required: true },
  )
  contact: Contact;
  @Flag('Whether it was made', { required: true }) created: boolean;
}

@Entity('Why a contact has points')
export class ScoreFactor {
  @Text(50, 'Key', { required: true }) key: string;
  @Text(100, 'Label', { required: true }) label: string;
  @Count('Points', { required: true }) points: number;
  @Text(200, 'What was counted', { required: true }) detail: string;
}

@Entity('The breakdown of a lead score')
export class ContactScore {
  @Ref('The contact', { required: true }) contactId: string;
  @Count('The sum of the points', { required: true }) score: number;
  @Count('The most there can be', { required: true }) maxScore: number;
  @Nested(
    () => ScoreFactor,
    () => ScoreFactor,
    'What the points are for',
    { list: 100, required: true },
  )
  factors: ScoreFactor[];
  @Stamp('When the stored score last changed') updatedAt: Date;
}

export const SmartView = oneOf(
  'ContactSmartView',
  {
    needs_follow_up: 'The last message is theirs and unanswered, or an open task is overdue',
    hot_leads: 'With a lead score of 70 or more',
    new_this_week: "Made since Monday, in the workspace's time zone",
    recently_won: 'With a deal won within 30 days',
    untagged: 'Without a tag',
    missing_email: 'Without an e-mail address',
    missing_phone: 'Without a phone number',
  },
  'Ready-made views of contacts',
);

@Entity('A ready-made view of contacts')
export class SmartViewInfo {
  @OneOf(SmartView, 'Key, the value of smart_view', { required: true }) key: keyof typeof SmartView;
  @Text(100, 'Name', { required: true }) name: string;
  @Text(200, 'What it shows', { required: true }) description: string;
  @Count('How many contacts it shows now', { required: true }) count: number;
}

/** The most contacts that one group of duplicates shows. */
export const mostOfGroup = 40;

export const DuplicateKey = oneOf(
  'ContactDuplicateKey',
  { email: 'The e-mail address, whatever its case', phone: 'The phone number', name_company: 'First name, last name and company' },
  'What duplicate contacts share',
);

@Entity('Contacts that may be one person', { scope: 'contacts' })
export class DuplicateGroup {
  @OneOf(DuplicateKey, 'What they share', { required: true }) matchOn: keyof typeof DuplicateKey;
  @Text(400, 'How it reads', { required: true }) value: string;
  @Count('How many there are', { required: true }) count: number;
  @Nested(
    () => Contact,
    () => Contact,
    `The contacts, at most ${mostOfGroup}; count tells how many there are`,
    { list: mostOfGroup, required: true },
  )
  contacts: Contact[];
}

@ArgsType()
export class DuplicateList {
  @Field(() => Int, { nullable: true, description: 'How many groups, at most 200; 50 by default' }) first?: number;
  @Field(() => String, { nullable: true, description: 'The cursor of the group to go on after' }) after?: string;
  @Field(() => Int, { nullable: true, description: 'The page number, from 1; not together with a cursor' }) page?: number;
  @Field(() => Int, { nullable: true, description: 'The page size; beats first' }) perPage?: number;
  selection: ReadonlySet<string>;
}

@ObjectType({ description: 'A page of contacts that may be one person' })
export class DuplicateGroupConnection extends ConnectionOf(DuplicateGroup) {}

@Input('Changes to a contact: absent keeps, null clears')
export class UpdateContactInput extends Edit(CreateContactInput) {}

export const ContactSort = oneOf(
  'ContactSort',
  ['createdAt', 'updatedAt', 'firstName', 'lastName', 'email', 'company', 'leadScore'],
  'Sort keys of contacts',
);

export const Reachability = oneOf(
  'Reachability',
  { sms: 'By text message', email: 'By e-mail', both: 'By text message and by e-mail', none: 'By neither' },
  'How a contact may be reached',
);

/** Where a deal stands: contacts are found by it, and deals have it. */
export const DealStatus = oneOf(
  'DealStatus',
  { open: 'It is neither won nor lost', won: 'It was won', lost: 'It was lost' },
  'Where a deal stands',
);

/** Contract "Contact list query parameters"; REST sends them in snake_case. */
@Input('Which contacts')
export class ContactFilter {
  @Text(200, 'Name, e-mail or phone: part of it from three characters on, the start of a word for one or two') search?: string | null;
  @Text(100, 'Carries the tag of this name') tag?: string | null;
  @Texts(100, 100, 'Carries any of these tags') tags?: string[] | null;
  @Text(100, 'Lead source') source?: string | null;
  @Text(200, 'Company, as text') company?: string | null;
  @Ref('Company record') companyId?: string | null;
  @Ref('Assigned user') assignedTo?: string | null;
  @Moment('Made at or after') createdFrom?: string | null;
  @Moment('Made at or before') createdTo?: string | null;
  @Moment('Changed at or after') updatedFrom?: string | null;
  @Moment('Changed at or before') updatedTo?: string | null;
  @Count('Lead score at least') minScore?: number | null;
  @OneOf(SmartView, 'A ready-made view') smartView?: keyof typeof SmartView | null;
  @Text(40, 'Status') masterStatus?: string | null;
  @Text(40, 'Not this status') excludeMasterStatus?: string | null;
  @OneOf(Reachability, 'Has an address and may be contacted there') reachability?: keyof typeof Reachability | null;
  @Ref('Made by this import') importId?: string | null;
  @Ref('Saved filter') smartListId?: string | null;
  @Refs(100, 'Has a deal of one of these owners') dealContextOwners?: string[] | null;
  @Refs(100, 'Has a deal in one of these stages') dealContextStages?: string[] | null;
  @SomeOf(DealStatus, 'Has a deal of one of these statuses') dealContextStatuses?: (keyof typeof DealStatus)[] | null;
  @JsonObject(8, 'Custom fields that equal these values: text, numbers, true or false') cf?: Record<string, unknown> | null;
  @JsonObject(16, 'A condition {and, or, not, field, op, value}') filters?: Record<string, unknown> | null;
}

@ArgsType()
export class ContactList extends ListArgsOf(ContactFilter, ContactSort) {}

@ObjectType({ description: 'A page of contacts' })
export class ContactConnection extends ConnectionOf(Contact) {}

/** What is told of contacts. */
export const contactEvents = eventsOf('contact', 'Contact', [...everyChange]);

declare module '../../kernel/events/recordEvents.js' {
  interface Events {
    contact: typeof contactEvents;
  }
}
