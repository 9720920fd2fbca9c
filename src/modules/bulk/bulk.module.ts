import { defineModule } from '../../kernel/module/module.js';
import { act } from '../../kernel/module/routes.js';
import { polymorphicRecord } from '../../kernel/tables/answerField.js';
import { BulkResult } from './bulk.model.js';
import { BulkContactsResolver, BulkDealsResolver } from './bulk.resolver.js';

// Too many records are 422.
const also = [422];

export default defineModule({
  name: 'bulk',
  about: 'One change of many records',
  resolvers: [BulkContactsResolver, BulkDealsResolver],
  answers: polymorphicRecord(BulkResult, 'The contact or the deal as it is now; null where it is deleted, or there is none'),
  routes: [
    act('POST /bulk/contacts/update', 'bulkUpdateContacts', { also }),
    act('POST /bulk/contacts/edit', 'bulkEditContacts', { also }),
    act('POST /bulk/contacts/delete', 'bulkDeleteContacts', { also }),
    act('POST /bulk/contacts/tag', 'bulkTagContacts', { also }),
    act('POST /bulk/contacts/untag', 'bulkUntagContacts', { also }),
    act('POST /bulk/contacts/do-not-contact', 'bulkSetDoNotContact', { also }),
    act('POST /bulk/deals/update', 'bulkUpdateDeals', { also }),
    act('POST /bulk/deals/edit', 'bulkEditDeals', { also }),
  ],
});
