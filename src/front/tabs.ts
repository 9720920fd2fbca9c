/** What GraphiQL opens with: a document a tab, ready to run in the demo account. Each is run by a test. */
export const tabs: readonly { query: string; variables?: string }[] = [
  {
    query: `# The deals of the board with all that they lead to: one statement of SQL.
# feedPosition is the place in the feed of that moment: subscribe after it.
query Deals {
  feedPosition
  deals(filter: { status: open }, first: 10) {
    totalCount
    nodes {
      title
      value
      stage { name }
      contact { name email }
      company { name }
    }
  }
}
`,
  },
  {
    query: `query FindContacts($search: String) {
  contacts(filter: { search: $search }, first: 5, sort: lastName, order: asc) {
    totalCount
    nodes { id name company tags { name } }
    pageInfo { hasNextPage endCursor }
  }
}
`,
    variables: '{ "search": "a" }',
  },
  {
    query: `mutation AddContact($input: CreateContactInput!) {
  createContact(input: $input) { id name tags { name } }
}
`,
    variables: '{ "input": { "firstName": "Ada", "lastName": "Lovelace", "tags": ["VIP"] } }',
  },
  {
    query: `# Run this, then add a contact in another tab.
subscription Contacts {
  contactEvents(ready: true) {
    id
    kind
    actor { name }
    changes
    contact { name }
  }
}
`,
  },
];
