import { Ctx, Mutation, Query, Resolver } from 'type-graphql';
import { Access } from '../../kernel/access/access.js';
import type { Context } from '../../kernel/context/context.js';
import { Reads } from '../../kernel/lists/reads.js';
import { IdArg, Listing } from '../../kernel/model/connection.js';
import { In } from '../../kernel/model/fields.js';
import { Archived } from '../../kernel/model/removal.js';
import { CreateProductInput, Product, ProductConnection, ProductList, UpdateProductInput } from './product.model.js';
import * as products from './product.service.js';
import { productTable } from './product.table.js';

@Resolver(() => Product)
@Access({ scope: 'products' })
export class ProductResolver {
  @Query(() => ProductConnection, { description: 'The catalog, newest first unless sorted otherwise' })
  @Reads(productTable)
  products(@Ctx() ctx: Context, @Listing() args: ProductList) {
    return products.listProducts(ctx, args);
  }

  @Query(() => Product, { nullable: true, description: 'One product, archived or not' })
  @Reads(productTable)
  product(@Ctx() ctx: Context, @IdArg() id: string) {
    return products.getProduct(ctx, id);
  }

  @Mutation(() => Product, { description: 'Makes a product' })
  createProduct(@Ctx() ctx: Context, @In() input: CreateProductInput) {
    return products.createProduct(ctx, input);
  }

  @Mutation(() => Product, { description: 'Changes a product; making an archived one active brings it back' })
  updateProduct(@Ctx() ctx: Context, @IdArg() id: string, @In() input: UpdateProductInput) {
    return products.updateProduct(ctx, id, input);
  }

  @Mutation(() => Archived, { description: 'Takes a product out of the catalog; invoices may go on naming it' })
  archiveProduct(@Ctx() ctx: Context, @IdArg() id: string) {
    return products.archiveProduct(ctx, id);
  }
}
