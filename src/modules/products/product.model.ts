import { ArgsType, ObjectType } from 'type-graphql';
import { eventsOf, everyChange } from '../../kernel/events/recordEvents.js';
import { ConnectionOf, ListArgsOf } from '../../kernel/model/connection.js';
import { Currency, Edit, Entity, Flag, Id, Input, JsonObject, Money, oneOf, Stamp, Text } from '../../kernel/model/fields.js';
import { New } from '../../kernel/model/newRecord.js';

/** Contract "Product": one line a field. */
@ObjectType()
export class ProductFields {
  @Text(200, 'The name', { required: true }) name: string;
  @Text(5000, 'What it is') description: string | null;
  @Money('What one unit costs, in the currency and not in its minor units', { min: 0 }) price: string | null;
  @Text(100, 'Stock keeping unit') sku: string | null;
  @Text(50, 'What is counted: hour, project, month, each') unit: string | null;
  @Flag('Whether tax is due on it; true by default', { optional: true }) taxable: boolean;
  @Currency("ISO 4217 code; the workspace's currency by default", { optional: true }) currency: string;
  @Flag('Whether it is offered; true by default. Inputs take it as active too', { optional: true }) isActive: boolean;
  @JsonObject(64, 'Whatever an integration keeps with it') metadata: object | null;
}

@Entity('Something that the workspace sells', { scope: 'products' })
export class Product extends ProductFields {
  @Id() id: string;
  @Stamp('When it was made') createdAt: Date;
  @Stamp('When it was last changed') updatedAt: Date;
  @Stamp('When it was archived; null while it is in the catalog', {}) archivedAt: Date | null;
}

@Input('A new product')
export class CreateProductInput extends New(ProductFields) {}

@Input('Changes to a product: absent keeps, null clears')
export class UpdateProductInput extends Edit(CreateProductInput) {}

/** Contract GET /products; archived products show only among the inactive ones. */
@Input('Which products')
export class ProductFilter {
  @Text(200, 'Name or SKU: part of it from three characters on, the start of a word for one or two') search?: string | null;
  @Flag('Only active ones, or only inactive ones, the archived among them') isActive?: boolean | null;
}

export const ProductSort = oneOf('ProductSort', ['createdAt', 'updatedAt', 'name', 'price'], 'Sort keys of products');

@ArgsType()
export class ProductList extends ListArgsOf(ProductFilter, ProductSort) {}

@ObjectType({ description: 'A page of products' })
export class ProductConnection extends ConnectionOf(Product) {}

/** What is told of products: an archived one is out of the catalog, and so deleted. */
export const productEvents = eventsOf('product', 'Product', [...everyChange, 'archived']);

declare module '../../kernel/events/recordEvents.js' {
  interface Events {
    product: typeof productEvents;
  }
}
