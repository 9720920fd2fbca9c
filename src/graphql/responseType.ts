/** The media type of GraphQL over HTTP, under which a status tells whether there are data. */
export const graphqlResponse = 'application/graphql-response+json';

/** How much a client wants a media type, by its Accept header; undefined where it does not name it. */
function weightOf(accept: string, type: string): { q: number; at: number } | undefined {
  for (const [at, entry] of accept.toLowerCase().split(',').entries()) {
    const [name, ...parameters] = entry.split(';').map((part) => part.trim());
    if (name !== type) continue;
    const q = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
    return { q: q === undefined ? 1 : Number(q) || 0, at };
  }
  return undefined;
}

/** Whether a client names the type of GraphQL over HTTP, and prefers it to plain JSON: of two that it likes as much, the first. */
export function wantsGraphqlResponse(accept: string | undefined): boolean {
  const wanted = accept === undefined ? undefined : weightOf(accept, graphqlResponse);
  if (!wanted || wanted.q === 0) return false;
  const json = weightOf(accept!, 'application/json');
  return !json || wanted.q > json.q || (wanted.q === json.q && wanted.at < json.at);
}

/** Whether a client wants a page to look at: a browser that was led here. */
export const wantsPage = (accept: string | undefined): boolean => {
  const page = accept === undefined ? undefined : weightOf(accept, 'text/html');
  return page !== undefined && page.q > 0;
};
