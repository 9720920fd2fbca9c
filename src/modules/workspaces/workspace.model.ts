import { InputType, ObjectType } from 'type-graphql';
import { Country, Currency, Edit, Entity, Flag, Money, Stamp, Text, Texts, TimeZone } from '../../kernel/model/fields.js';

/** What a workspace is set to, one line a field. */
@ObjectType()
export class WorkspaceFields {
  @Text(200, 'The name of the workspace', { required: true }) name: string;
  @TimeZone('Its time zone by the IANA name: in it a day begins and ends, and what is due at a time of day is', { required: true })
  timezone: string;
  @Country('The country of phone numbers that come without one, ISO 3166-1', { required: true }) defaultCountry: string;
  @Currency('The currency of products and invoices that name none, ISO 4217; a deal that names none is in USD', { required: true })
  currency: string;
  @Money('The tax rate of invoices that name none, 0 to 1', { required: true, scale: 6, min: 0, max: 1 }) defaultTaxRate: string;
  @Flag('Whether every lost deal must tell why it was lost, whatever its stage asks', { required: true }) lostReasonRequired: boolean;
  @Texts(100, 500, 'The only reasons that are taken where the stage of a lost deal lists none; none here means any', { required: true })
  lostReasons: string[];
}

@Entity('The settings of a workspace', { scope: 'settings' })
export class WorkspaceSettings extends WorkspaceFields {
  @Stamp('When the workspace was made') createdAt: Date;
  @Stamp('When it was last changed') updatedAt: Date;
}

@InputType({ description: 'Changes to the settings of the workspace: absent keeps' })
export class UpdateWorkspaceSettingsInput extends Edit(WorkspaceFields) {}
